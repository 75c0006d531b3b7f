/** What a block shows may differ from its text: far lines are not drawn, invisible characters are. Copy gives the text. */
const sources = new WeakMap<Element, () => string>()

/** Says what is copied by the copy button inside an element. */
export function offerCopy(element: Element, text: () => string): void {
  sources.set(element, text)
}

/** The text that the button data-copy="code" stands for. */
export function sourceOf(button: Element): string {
  const block = button.closest<HTMLElement>('.code-block, .md-code, .body-block')
  if (!block) return ''
  return sources.get(block)?.() ?? block.dataset.source ?? block.querySelector('code')?.textContent ?? ''
}
