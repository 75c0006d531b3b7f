/**
 * Runs f in a task of its own, behind what the page has to do first: from an animation frame that is the next paint. Timers
 * of a page have a floor of 4 ms, messages have not.
 */
export function soon(f: () => void): void {
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => {
    port1.close()
    f()
  }
  port2.postMessage(null)
}
