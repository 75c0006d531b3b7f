/*
 * Highlights code off the main thread with shiki's JavaScript regex engine, which needs no wasm and so works under
 * script-src 'self'. Grammars load when a language is first asked for. An unknown language or a failing grammar
 * answers null: the code then stays plain.
 */
import { createHighlighterCore, type HighlighterCore, type LanguageInput } from 'shiki/core'
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript'

export interface HighlightRequest {
  id: number
  code: string
  lang: string
}

/** `spans` holds triples: start, end (UTF-16 offsets in the code) and an index into `palette`. */
export interface Highlighted {
  spans: Uint32Array<ArrayBuffer>
  /** Colours as [light, dark]. */
  palette: [string, string][]
}

export interface HighlightAnswer {
  id: number
  result: Highlighted | null
}

const languages: Record<string, () => Promise<unknown>> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  dart: () => import('shiki/langs/dart.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  elixir: () => import('shiki/langs/elixir.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  graphql: () => import('shiki/langs/graphql.mjs'),
  haskell: () => import('shiki/langs/haskell.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsonc: () => import('shiki/langs/jsonc.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  less: () => import('shiki/langs/less.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  nix: () => import('shiki/langs/nix.mjs'),
  perl: () => import('shiki/langs/perl.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  proto: () => import('shiki/langs/proto.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  r: () => import('shiki/langs/r.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  scala: () => import('shiki/langs/scala.mjs'),
  scss: () => import('shiki/langs/scss.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  terraform: () => import('shiki/langs/terraform.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  vue: () => import('shiki/langs/vue.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
  zig: () => import('shiki/langs/zig.mjs'),
}

const aliases: Record<string, string> = {
  'c++': 'cpp',
  'c#': 'csharp',
  cc: 'cpp',
  cs: 'csharp',
  cjs: 'javascript',
  conf: 'ini',
  console: 'bash',
  dockerfile: 'docker',
  ex: 'elixir',
  golang: 'go',
  gql: 'graphql',
  h: 'c',
  hcl: 'terraform',
  hpp: 'cpp',
  hs: 'haskell',
  js: 'javascript',
  json5: 'jsonc',
  kt: 'kotlin',
  makefile: 'make',
  md: 'markdown',
  mjs: 'javascript',
  mts: 'typescript',
  patch: 'diff',
  ps1: 'powershell',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  svg: 'xml',
  tf: 'terraform',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
}

/** Milliseconds for one line. The first takes long on a busy machine, and a line that is given up keeps its first colour. */
const LINE_TIME = 4000

const light = 'github-light-default'
const dark = 'github-dark-default'

let highlighter: Promise<HighlighterCore> | undefined
const loaded = new Map<string, Promise<void>>()

function core(): Promise<HighlighterCore> {
  highlighter ??= createHighlighterCore({
    engine: createJavaScriptRegexEngine({ forgiving: true }),
    themes: [import('shiki/themes/github-light-default.mjs'), import('shiki/themes/github-dark-default.mjs')],
  })
  return highlighter
}

async function highlight(code: string, wanted: string): Promise<Highlighted | null> {
  const name = wanted.toLowerCase()
  const lang = aliases[name] ?? name
  const load = Object.hasOwn(languages, lang) ? languages[lang] : undefined
  if (!load) return null
  const shiki = await core()
  let ready = loaded.get(lang)
  if (!ready) loaded.set(lang, (ready = shiki.loadLanguage(load as LanguageInput)))
  await ready
  const lines = shiki.codeToTokensWithThemes(code, { lang, themes: { light, dark }, tokenizeMaxLineLength: 2000, tokenizeTimeLimit: LINE_TIME })
  const foreground = `${shiki.getTheme(light).fg}|${shiki.getTheme(dark).fg}`.toLowerCase()
  const index = new Map<string, number>()
  const palette: [string, string][] = []
  const spans: number[] = []
  for (const line of lines) {
    for (const token of line) {
      if (token.content.trim() === '') continue
      const pair: [string, string] = [token.variants.light?.color ?? '', token.variants.dark?.color ?? '']
      const key = pair.join('|').toLowerCase()
      if (key === foreground || key === '|') continue
      let at = index.get(key)
      if (at === undefined) {
        index.set(key, (at = palette.length))
        palette.push(pair)
      }
      spans.push(token.offset, token.offset + token.content.length, at)
    }
  }
  return { spans: Uint32Array.from(spans), palette }
}

self.onmessage = async (event: MessageEvent<HighlightRequest>) => {
  const { id, code, lang } = event.data
  let result: Highlighted | null = null
  try {
    result = await highlight(code, lang)
  } catch {
    // A grammar that the engine cannot run must not cost more than the colours.
  }
  const answer: HighlightAnswer = { id, result }
  self.postMessage(answer, { transfer: result ? [result.spans.buffer] : [] })
}
