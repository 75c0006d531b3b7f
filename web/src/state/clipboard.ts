/** copy puts a text on the clipboard; it rejects when the browser does not allow it. */
export async function copy(text: string): Promise<void> {
  // Without a secure context, as on a plain address other than loopback, there is no clipboard object at all.
  const clipboard: Clipboard | undefined = navigator.clipboard
  if (!clipboard) throw new Error('the browser offers no clipboard to this page')
  await clipboard.writeText(text)
}
