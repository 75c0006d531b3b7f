import { chromium, type Browser, type Page } from '@playwright/test'
import { build, type Rollup } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderMarkdown, targetOf } from '@/core/markdown/render'

// DOMPurify is only as good as the DOM under it, and its authors warn of simulated ones. So the corpus runs in a real
// browser, which also shows whether anything executes.

const md = (text: string) => ({ text, refs: null, resumes: null })
const labels = { copy: 'Copy', image: 'Image', table: 'Table' }

interface Finding {
  html: string
  text: string
  problems: string[]
}

let browser: Browser
let page: Page

beforeAll(async () => {
  const result = (await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { alias: { '@': new URL('..', import.meta.url).pathname } },
    build: { write: false, lib: { entry: new URL('sanitize.ts', import.meta.url).pathname, formats: ['iife'], name: 'wall' } },
  })) as Rollup.RollupOutput[]
  const output = (Array.isArray(result) ? result[0] : result) as Rollup.RollupOutput
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  page = await browser.newPage()
  await page.route('**', (route) => route.abort())
  await page.exposeFunction('ran', () => executed++)
  await page.evaluate(() => (window.alert = () => void (window as unknown as { ran(): void }).ran()))
  await page.addScriptTag({ content: output.output[0].code })
}, 60_000)

afterAll(() => browser?.close())

let executed = 0

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
        /^(A|BLOCKQUOTE|BR|BUTTON|CODE|DEL|DIV|EM|H[3-6]|HR|IMG|INPUT|LI|OL|P|PRE|S|SPAN|STRONG|TABLE|TBODY|TD|TH|THEAD|TR|UL)$/
      for (const el of box.querySelectorAll('*')) {
        if (!allowed.test(el.tagName)) problems.push(`element ${el.tagName}`)
        for (const { name, value } of el.attributes) {
          if (/^on|^style$|^srcset$|^formaction$|^xlink|^id$|^name$/i.test(name)) problems.push(`attribute ${name}`)
          if (name === 'href' && !/^(https?:\/\/[^/]|mailto:)/i.test(value)) problems.push(`href ${value}`)
          if (name === 'src' && !/^(data:image\/(png|jpe?g|gif|webp|avif);base64,|blob:)/i.test(value)) problems.push(`src ${value}`)
        }
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

const corpus = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="x" onerror="alert(1)"><b onclick=alert(1)>x</b>',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s>',
  '<svg><foreignObject><iframe srcdoc="<script>alert(1)</script>"></iframe></foreignObject></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<math href="javascript:alert(1)">x</math>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="&lt;script&gt;alert(1)&lt;/script&gt;"></iframe>',
  '<object data="data:text/html,<script>alert(1)</script>"></object>',
  '<embed src="javascript:alert(1)">',
  '<form action="javascript:alert(1)"><button formaction="javascript:alert(1)">x</button></form>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="  javascript:alert(1)">x</a>',
  '<a href="java\nscript:alert(1)">x</a>',
  '<a href="&#106;avascript:alert(1)">x</a>',
  '<a href="data:text/html,<script>alert(1)</script>">x</a>',
  '<a href="vbscript:msgbox(1)">x</a>',
  '<a href="blob:https://x/y">x</a>',
  '<base href="https://evil.example/">',
  '<link rel=stylesheet href="https://evil.example/x.css">',
  '<style>@import "https://evil.example/x.css";</style>',
  '<p style="background:url(https://evil.example/x)">x</p>',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<template><script>alert(1)</script></template>',
  '<video><source onerror=alert(1)></video>',
  '<details open ontoggle=alert(1)>x</details>',
  '<input autofocus onfocus=alert(1) type=text name=x>',
  '<textarea autofocus onfocus=alert(1)></textarea>',
  '<title><img src=x onerror=alert(1)></title>',
  '<xmp><img src=x onerror=alert(1)></xmp>',
  '<img src="data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+">',
  '<img src="data:text/html;base64,PHNjcmlwdD4=">',
  '<img src="https://evil.example/pixel.png">',
  '<img srcset="https://evil.example/pixel.png 1x">',
  '<div id="app">x</div><a name="location">x</a>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](java&#x73;cript:alert(1))',
  '[x](<javascript:alert(1)>)',
  '[x](&#x6A;avascript:alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](\u0001javascript:alert(1))',
  '[x](data:text/html;base64,PHNjcmlwdD4=)',
  '[x](vbscript:x)',
  '[x](//evil.example/x)',
  '[x](https:evil)',
  '[x](file:///etc/passwd)',
  '[x](relative/path.md)',
  '[x](#anchor)',
  '[x](https://ok.example/"onmouseover="alert(1))',
  '[x](https://ok.example/ "title\\" onmouseover=alert(1) x=\\"")',
  '[x][r]\n\n[r]: javascript:alert(1)',
  '[x][r]\n\n[r]: https://ok.example/ "><img src=x onerror=alert(1)>"',
  '![x](javascript:alert(1))',
  '![x](https://evil.example/pixel.png)',
  '![x" onerror="alert(1)](https://evil.example/p.png)',
  '![x](data:image/svg+xml;base64,PHN2Zz4=)',
  '[![x](https://evil.example/p.png)](javascript:alert(1))',
  '[![x](https://evil.example/p.png)](https://ok.example/)',
  '<javascript:alert(1)>',
  '<https://ok.example/?"onclick=alert(1)>',
  'https://ok.example/"><script>alert(1)</script>',
  '`<script>alert(1)</script>`',
  '- ```html\n  <script>alert(1)</script>\n  ```',
  '- ```"><img src=x onerror=alert(1)>\n  x\n  ```',
  '| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |',
  '> <script>alert(1)</script>',
  '# <img src=x onerror=alert(1)>',
  '**<b onclick=alert(1)>x</b>**',
  '[x](</a/b" onclick="alert(1)>)',
]

describe('hostile input (R-CHAT-132)', () => {
  it.each(corpus)('as Markdown is harmless: %s', async (text) => {
    const html = renderMarkdown(md(text), labels)
    await expectHarmless(html, true)
    await expectHarmless(html)
  })

  it.each(corpus)('as HTML past the renderer is harmless: %s', async (text) => {
    await expectHarmless(text)
  })

  it('executes nothing', async () => {
    await page.waitForTimeout(100)
    expect(executed).toBe(0)
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
    expect(await read(text, 'a.md-image')).toEqual(['Image: a'])
  })

  it('makes no link of file names and host names', () => {
    expect(renderMarkdown(md('see main.rs, README.md and git@github.com:x/y'), labels)).not.toContain('<a')
  })
})

describe('targetOf', () => {
  it.each([
    ['https://x.example', 'external'],
    ['mailto:a@b.example', 'external'],
    ['/a/b.go', 'path'],
    ['C:\\a\\b.go', 'path'],
    ['c:/a', 'path'],
    ['file:///a', 'path'],
    ['//x/y', undefined],
    ['a/b', undefined],
    ['javascript:x', undefined],
    ['ftp://x', undefined],
    ['file://host/share', undefined],
  ])('%s is %s', (href, kind) => {
    expect(targetOf(href)?.kind).toBe(kind)
  })
})
