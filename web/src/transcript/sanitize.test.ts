import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { chromium, type Browser, type Page } from '@playwright/test'
import { build, type Rollup } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderMarkdown, type RenderBlock } from '@/core/markdown/render'
import { hostile, hostileFormulas, hostilePictures } from '@/testing/hostile'

// DOMPurify is only as good as the DOM under it, and its authors warn of simulated ones. So the corpus runs in a real
// browser, which also shows whether anything executes.

const md = (text: string): RenderBlock => ({ text, refs: null, part: null, resumes: null, columns: '' })
const labels = { copy: 'Copy', formula: 'Formula', openImage: 'Open image at {host}', table: 'Table', tableFrom: 'Table, from row {n}', task: 'Task' }

interface Finding {
  html: string
  text: string
  problems: string[]
}

let browser: Browser
let page: Page

/** The program of that name on PATH. */
function onPath(name: string): string {
  const found = (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, name)).find(existsSync)
  if (!found) throw new Error(`${name} is not on PATH`)
  return found
}

beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: onPath('chromium'),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  page = await browser.newPage()
  await page.route('**', (route) => route.abort())
  page.on('request', (r) => fetched.push(r.url()))
  await page.exposeFunction('ran', () => executed++)
  await page.evaluate(() => (window.alert = () => void (window as unknown as { ran(): void }).ran()))
  await page.addScriptTag({ content: await bundle('sanitize.ts', 'wall') })
  await page.addScriptTag({ content: await bundle('typeset.ts', 'formulas') })
  await page.addScriptTag({ content: await bundle('diagram/svg.ts', 'pictures') })
}, 60_000)

/** Builds a module of the view for a page of its own. */
async function bundle(file: string, name: string): Promise<string> {
  const result = (await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { alias: { '@': new URL('..', import.meta.url).pathname } },
    build: { write: false, lib: { entry: new URL(file, import.meta.url).pathname, formats: ['iife'], name } },
  })) as Rollup.RollupOutput[]
  return ((Array.isArray(result) ? result[0] : result) as Rollup.RollupOutput).output[0].code
}

afterAll(() => browser?.close())

let executed = 0
const fetched: string[] = []

/** Sanitises (unless raw), puts the result into the page and lists what must not be there. */
function inspect(html: string, raw = false): Promise<Finding> {
  return page.evaluate(
    ({ html, raw }) => {
      const { sanitize } = (window as unknown as { wall: { sanitize(html: string): string } }).wall
      const out = raw ? html : sanitize(html)
      const box = document.createElement('div')
      document.body.replaceChildren(box)
      box.innerHTML = out
      const problems: string[] = []
      const allowed =
        /^(A|BLOCKQUOTE|BR|BUTTON|CODE|COL|COLGROUP|DEL|DIV|EM|H[3-6]|HR|IMG|INPUT|LI|OL|P|PRE|S|SPAN|STRONG|TABLE|TBODY|TD|TH|THEAD|TR|UL)$/
      for (const el of box.querySelectorAll('*')) {
        if (!allowed.test(el.tagName)) problems.push(`element ${el.tagName}`)
        for (const { name, value } of el.attributes) {
          if (/^on|^style$|^srcset$|^formaction$|^xlink|^id$|^name$/i.test(name)) problems.push(`attribute ${name}`)
          if (name === 'href' && !/^(https?:\/\/[^/]|mailto:)/i.test(value)) problems.push(`href ${value}`)
          if (name === 'src' && !/^(data:image\/(png|jpe?g|gif|webp|avif);base64,)/i.test(value)) problems.push(`src ${value}`)
        }
        if ([...el.classList].some((c) => !c.startsWith('md-'))) problems.push(`class ${el.className}`)
        if (el.tagName === 'A' && el.hasAttribute('href')) {
          if (el.getAttribute('rel') !== 'noopener noreferrer') problems.push('rel')
          if (el.getAttribute('target') !== '_blank') problems.push('target')
        }
      }
      return { html: out, text: box.textContent ?? '', problems }
    },
    { html, raw },
  )
}

async function expectHarmless(html: string, raw = false): Promise<void> {
  const found = await inspect(html, raw)
  expect(found.problems, found.html).toEqual([])
}

/** Runs a query over sanitised Markdown: the given attribute of every match, or its text. */
async function read(markdown: string, selector: string, attribute?: string): Promise<(string | null)[]> {
  await inspect(renderMarkdown(md(markdown), labels))
  return page.$$eval(selector, (els, a) => els.map((e) => (a ? e.getAttribute(a) : e.textContent)), attribute)
}

describe('hostile input (R-CHAT-132)', () => {
  it.each(hostile)('as Markdown is harmless: %s', async (text) => {
    const html = renderMarkdown(md(text), labels)
    await expectHarmless(html, true)
    await expectHarmless(html)
  })

  it.each(hostile)('as HTML past the renderer is harmless: %s', async (text) => {
    await expectHarmless(text)
  })

  it.each([
    '<p onclick="ran()">x</p>',
    '<p\n onmouseover=ran()>x</p>',
    '<td align="left" onmouseover="ran()">x',
    '<ol start="1" style="x">x',
    '<div class="md-table" tabindex="0" role="group" aria-label=""><img src=x onerror=ran()>',
    '<div class="md-table" tabindex="0" role="group" aria-label="x" autofocus onfocus="ran()">x</div>',
    '<col width="1"><svg onload=ran()>',
    '<p>x</p><',
    '<p>x</p></p/onload=ran()>',
    '</script><script>ran()</script>',
    '<table><tr><td><style>@import "//evil"</style>',
  ])('that is nearly what the renderer makes is harmless: %s', (html) => expectHarmless(html))

  it.each(hostileFormulas)('as a formula is harmless: %.80s', async (tex) => {
    const problems = await page.evaluate((tex) => {
      const { typeset } = (window as unknown as { formulas: { typeset(tex: string, display: boolean): Node | null } }).formulas
      const started = performance.now()
      const node = typeset(tex, true)
      const problems = performance.now() - started > 15_000 ? ['too slow'] : []
      if (!node) return problems
      document.body.replaceChildren(node)
      for (const el of document.body.querySelectorAll('*')) {
        if (el.namespaceURI !== 'http://www.w3.org/1998/Math/MathML') problems.push(`element ${el.tagName}`)
        for (const { name, value } of el.attributes) {
          if (/^on|^(style|class|id|href|src|xlink.*|data-.*)$/i.test(name) || /url|javascript|</i.test(value)) problems.push(`${name}=${value}`)
        }
      }
      const { width, height } = document.body.firstElementChild!.getBoundingClientRect()
      if (width > 20_000 || height > 20_000) problems.push(`${width} × ${height}`)
      return problems
    }, tex)
    expect(problems).toEqual([])
  })

  it.each(hostilePictures)('as a drawn picture is harmless: %.80s', async (drawn) => {
    const found = await page.evaluate((drawn) => {
      const { pictureOf } = (window as unknown as { pictures: { pictureOf(svg: string): { svg: string } | null } }).pictures
      const svg = pictureOf(drawn)?.svg ?? ''
      const box = document.createElement('div')
      document.body.replaceChildren(box)
      box.innerHTML = svg // worse than what the page does, which shows it in an <img>
      const image = new Image()
      image.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
      return image.decode().then(
        () => ({ svg, size: `${image.naturalWidth} × ${image.naturalHeight}`, wellFormed: true }),
        () => ({ svg, size: '', wellFormed: false }),
      )
    }, drawn)
    expect(found.svg).not.toMatch(/="[^"]*(?:evil|alert|javascript)|href=|<script|foreignObject|<a |<use|@import|url\([^#]|<iframe|<video|<animate|<set/i)
    expect(found.svg).toContain('<rect')
    expect(found).toMatchObject({ size: '9 × 9', wellFormed: true })
  })

  it('keeps what pictures are made of', async () => {
    const drawn = '<svg viewBox="0 0 90 50"><style>#d .node rect { fill: #fff; marker-end: url(#m) }</style><defs><marker id="m"><path d="M0 0"></path></marker></defs><g class="node"><rect width="9" style="fill: red"></rect></g><text y="1">a &amp; b</text><path marker-end="url(#m)" d="M1 1"></path></svg>'
    const svg = await page.evaluate((drawn) => (window as unknown as { pictures: { pictureOf(svg: string): { svg: string } | null } }).pictures.pictureOf(drawn)?.svg, drawn)
    for (const part of ['fill: #fff', 'url(#m)', '<marker id="m"', 'style="fill: red"', 'a &amp; b', 'marker-end="url(#m)"', 'width="90"', 'height="50"']) expect(svg).toContain(part)
  })

  it('executes and fetches nothing', async () => {
    // What would run does so in a task of its own, and this one is behind all of them.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
    expect(executed).toBe(0)
    expect(fetched.filter((url) => !/^(data|blob):/.test(url))).toEqual([])
  })

  it('draws formulas with the letters of their style', async () => {
    const drawn = await page.evaluate(() => {
      const { typeset } = (window as unknown as { formulas: { typeset(tex: string, display: boolean): Node | null } }).formulas
      return ['x^2', '\\mathbb{R}\\mathcal{L}\\mathbf{v}', '\\begin{aligned}a&=b\\\\c&=d\\end{aligned}', '\\frac{1}{', ''].map((tex) => {
        const node = typeset(tex, false)
        return node && [node.textContent, [...(node as DocumentFragment).querySelectorAll('mtd')].map((c) => c.getAttribute('columnalign')).join(' ')]
      })
    })
    expect(drawn).toEqual([['x2', ''], ['ℝℒ𝐯', ''], ['a=bc=d', 'right left right left'], null, ['', '']])
  })

  it('shows raw HTML as text', async () => {
    const found = await inspect(renderMarkdown(md('a <b>bold</b> <script>alert(1)</script>'), labels))
    expect(found.text.trim()).toBe('a <b>bold</b> <script>alert(1)</script>')
  })

  it('keeps what Markdown needs', async () => {
    const text =
      '# T\n\n- [ ] a\n- [x] b\n\n| h |\n|:-:|\n| c |\n\n~~s~~ **b** *i* `c`\n\n3. three\n\n[l](https://ok.example/) https://auto.example/x'
    expect(await read(text, 'h3')).toEqual(['T'])
    expect(await read(text, 'input[type=checkbox][disabled]')).toHaveLength(2)
    expect(await read(text, 'input[checked]')).toHaveLength(1)
    expect(await read(text, 'td', 'align')).toEqual(['center'])
    expect(await read(text, 'ol', 'start')).toEqual(['3'])
    expect(await read(text, 'a', 'href')).toEqual(['https://ok.example/', 'https://auto.example/x'])
    for (const tag of ['s', 'strong', 'em', 'code', 'table']) expect(await read(text, tag), tag).toHaveLength(1)
  })

  it('turns absolute paths into buttons that carry the place', async () => {
    const text = '[m](/work/a%20b/main.go:12:3) [f](file:///x/y.md#L7)'
    expect(await read(text, 'button', 'data-path')).toEqual(['/work/a b/main.go', '/x/y.md'])
    expect(await read(text, 'button', 'data-line')).toEqual(['12', '7'])
    expect(await read(text, 'button', 'data-column')).toEqual(['3', null])
  })

  it('loads no remote image and shows safe images in the text', async () => {
    const png = 'data:image/png;base64,iVBORw0KGgo='
    const text = `![a](https://x.example/p.png) ![b](${png})`
    expect(await read(text, 'img', 'src')).toEqual([png])
    expect(await read(text, '.md-image a')).toEqual(['Open image at x.example'])
  })

  it('makes no link of file names and host names', () => {
    expect(renderMarkdown(md('see main.rs, README.md and git@github.com:x/y'), labels)).not.toContain('<a')
  })
})
