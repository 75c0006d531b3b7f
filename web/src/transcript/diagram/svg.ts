import DOMPurify from 'dompurify'

export interface Picture {
  svg: string
  /** CSS pixels. */
  width: number
  height: number
}

let purifier: typeof DOMPurify | null = null
const outside = /url\(\s*(?!["']?#)|@import|image-set|expression\(|\\/i
const raster = /^data:image\/(?:png|jpe?g|gif|webp);base64,[a-z0-9+/=\s]+$/i

function instance(): typeof DOMPurify {
  if (purifier) return purifier
  purifier = DOMPurify(window)
  purifier.addHook('uponSanitizeAttribute', (_node, data) => {
    const { attrName: name, attrValue: value } = data
    if (name === 'href' || name === 'xlink:href') data.keepAttr = value.startsWith('#') || raster.test(value)
    else if (outside.test(value)) data.keepAttr = false
  })
  purifier.addHook('uponSanitizeElement', (node, data) => {
    if (data.tagName === 'style' && outside.test(node.textContent ?? '')) node.textContent = styles(node.textContent ?? '')
  })
  return purifier
}

/** Rules without those that name something outside of the picture. */
function styles(css: string): string {
  return css
    .replaceAll('\\', '')
    .replace(/@import[^;}]*;?/gi, '')
    .replace(/[^;{}]*(?:url\(\s*(?!["']?#)|image-set|expression\()[^;}]*/gi, '')
}

/**
 * Makes a picture of what a diagram was drawn to: no HTML, links, scripts or events, nothing from outside. Null when no
 * picture is left. It is shown in an <img>, where nothing of it could run or load either.
 */
export function pictureOf(drawn: string): Picture | null {
  const fragment = instance().sanitize(drawn, {
    USE_PROFILES: { svg: true, svgFilters: true },
    ADD_TAGS: ['style'],
    FORBID_TAGS: ['a', 'foreignobject', 'script', 'animate', 'set', 'animatetransform', 'animatemotion'],
    FORBID_CONTENTS: ['foreignobject', 'script', 'iframe', 'object', 'embed'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  })
  const svg = fragment.querySelector('svg')
  const box = svg?.getAttribute('viewBox')?.trim().split(/[\s,]+/).map(Number)
  const [width, height] = [Math.ceil(box?.[2] ?? 0), Math.ceil(box?.[3] ?? 0)]
  if (!svg || !(width > 0) || !(height > 0) || width > 50_000 || height > 50_000) return null
  svg.removeAttribute('style')
  svg.setAttribute('width', String(width))
  svg.setAttribute('height', String(height))
  return { svg: new XMLSerializer().serializeToString(svg), width, height }
}
