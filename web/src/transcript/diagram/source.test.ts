import { describe, expect, it } from 'vitest'
import { hostileDiagrams } from '@/testing/hostile'
import { harmless } from './source'

describe('the source that is drawn (R-CHAT-133)', () => {
  it.each([
    ['graph TD\n  A --> B', 'graph TD\n  A --> B'],
    ['%%{init: {"theme": "forest", "flowchart": {"curve": "linear"}}}%%\ngraph TD\n  A', '\ngraph TD\n  A'],
    ['%%{\n  init: {}\n}%%\ngraph TD', '\ngraph TD'],
    ['%% a comment\ngraph TD', '%% a comment\ngraph TD'],
    ['%%{init: never closed\ngraph TD', '%% init: never closed\ngraph TD'],
    ['---\ntitle: My "own" plan\nconfig:\n  look: handDrawn\n---\ngraph TD', '---\ntitle: "My \\"own\\" plan"\n---\ngraph TD'],
    ['\n---\nconfig:\n  securityLevel: loose\n---\ngraph TD', 'graph TD'],
    ['graph TD\n  A["line\\nbreak"]', 'graph TD\n  A["line\\nbreak"]'],
    ['graph TD\n  style A fill:\\75rl(x)', 'graph TD\n  style A fill:75rl(x)'],
    ['graph TD\n  style A fill:URL(x)', 'graph TD\n  style A fill:URL (x)'],
    ['graph TD\n  A@{ img: "https://x/p.png", label: "x" }', 'graph TD\n  A@{  label: "x" }'],
    ['graph TD\n  A@{ shape: rect, icon: fa }', 'graph TD\n  A@{ shape: rect, }'],
    ['graph TD\n  A["$$x$$"]', 'graph TD\n  A["$x$"]'],
    ['graph TD\n  A["<b>x</b><br/>y < z"] <--> B', 'graph TD\n  A["‹b>x‹/b><br/>y < z"] <--> B'],
    ['classDiagram\n  A <|-- B\n  <<interface>> A', 'classDiagram\n  A <|-- B\n  <<interface>> A'],
    ['graph TD\n  A["<<img src=x onerror=y>>"]', 'graph TD\n  A["<‹img src=x onerror=y>>"]'],
    ['sequenceDiagram\n  link A: Home @ https://x/\n  LINKS A: {"x": "y"}; A->>B: x\n  A->>B: y; link B: Home @ x', 'sequenceDiagram\n\n\n  A->>B: y;'],
    ['gantt\n  link checker : a1, 3d', 'gantt\n  link checker : a1, 3d'],
    ['sequenceDiagram\r\n  A->>B: x', 'sequenceDiagram\n  A->>B: x'],
  ])('%j is %j', (source, drawn) => {
    expect(harmless(source)).toBe(drawn)
  })

  it.each(hostileDiagrams)('has nothing that loads or configures: %.60s', (source) => {
    const text = harmless(source)
    expect(text).not.toMatch(/%%\{|url\(|image-set\(|securityLevel|themeCSS|\bimg\s*:|__proto__|<(?:img|script|svg|iframe|b)\b/i)
  })
})
