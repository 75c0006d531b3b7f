import DOMPurify from 'dompurify'
import { safeImage, targetOf } from '@/core/markdown/targets'

const tags = [
  ...['a', 'blockquote', 'br', 'button', 'code', 'col', 'colgroup', 'del', 'div', 'em', 'h3', 'h4', 'h5', 'h6', 'hr', 'img'],
  ...['input', 'li', 'ol', 'p', 'pre', 's', 'span', 'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul'],
]
const attributes = [
  ...['align', 'alt', 'aria-label', 'checked', 'class', 'data-column', 'data-copy', 'data-display', 'data-line', 'data-path'],
  ...['data-source', 'data-tex', 'disabled', 'href', 'loading', 'rel', 'role', 'src', 'start', 'tabindex', 'target', 'title'],
  ...['type', 'width'],
]

let purifier: typeof DOMPurify | null = null

/** Made at first use: hooks and settings belong to this instance only. Settings given with each call cost most of it. */
function instance(): typeof DOMPurify {
  if (purifier) return purifier
  purifier = DOMPurify(window)
  purifier.setConfig({
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: attributes,
    // The address rule below is for href and src; the values of all others are no addresses.
    ADD_URI_SAFE_ATTR: attributes.filter((name) => name !== 'href' && name !== 'src'),
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/(?:png|jpe?g|gif|webp|avif);base64,)/i,
  })
  purifier.addHook('uponSanitizeAttribute', (_node, data) => {
    if (data.attrName === 'href') data.keepAttr = targetOf(data.attrValue)?.kind === 'external'
    if (data.attrName === 'src') data.keepAttr = safeImage(data.attrValue)
    if (data.attrName === 'width') data.keepAttr = /^\d{1,5}$/.test(data.attrValue)
    // Classes are ours; with others a message could dress up as a part of the page.
    if (data.attrName === 'class') data.keepAttr = /^md-[a-z-]+( md-[a-z-]+)*$/.test(data.attrValue)
  })
  purifier.addHook('afterSanitizeAttributes', (node) => {
    if (node.nodeName === 'A') {
      node.setAttribute('target', '_blank')
      node.setAttribute('rel', 'noopener noreferrer')
    }
    if (node.nodeName === 'BUTTON') node.setAttribute('type', 'button')
    if (node.nodeName === 'INPUT') {
      node.setAttribute('type', 'checkbox')
      node.setAttribute('disabled', '')
    }
  })
  return purifier
}

/*
 * What most Markdown is: elements without attributes, or with those that stand here word by word. None of them runs,
 * loads or leads anywhere, in whatever order they come, and text is text.
 */
const harmless = new RegExp(
  [
    '</?(?:blockquote|br|code|colgroup|del|em|h[3-6]|hr|li|ol|p|pre|s|strong|table|tbody|td|th|thead|tr|ul)>',
    '<(?:td|th) align="(?:left|center|right)">',
    '<ol start="\\d{1,9}">',
    '<div class="md-table" tabindex="0" role="group" aria-label="[^"<>&]*">',
    '<table class="md-fixed(?: md-part)?" width="\\d{1,5}">',
    '<col width="\\d{1,5}">',
    '</div>',
  ].join('|'),
  'y',
)

/** Whether every tag is one of those; costs its length. */
function isHarmless(html: string): boolean {
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', harmless.lastIndex)) {
    harmless.lastIndex = at
    if (!harmless.test(html)) return false
  }
  return true
}

/**
 * The second wall behind the renderer: whatever HTML comes in, only the elements and attributes that rendered
 * Markdown needs come out, with external links and safe images at most (R-CHAT-132). What has none of these is not
 * taken apart: that costs more than all else together while an answer streams.
 */
export function sanitize(html: string): string {
  return isHarmless(html) ? html : instance().sanitize(html)
}
