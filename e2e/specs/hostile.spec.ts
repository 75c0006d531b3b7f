import { expect, test } from '../fixtures.ts'

/** What would be there if anything of it ran. */
const ran = () => 'pwned' in window

test('HTML, scripts and addresses from an Agent are text: nothing runs, nothing is fetched (R-CHAT-132)', async ({ chat, context, page }) => {
  const requests: string[] = []
  context.on('request', (r) => requests.push(r.url()))
  const hostile = [
    '<script>window.pwned = 1</script>',
    '<img src=x onerror="window.pwned = 2">',
    '<svg onload="window.pwned = 3"><circle/></svg>',
    '<iframe srcdoc="<script>parent.pwned = 4</script>"></iframe>',
    '<style>body { display: none }</style>',
    '<a href="javascript:window.pwned = 5">raw anchor</a>',
    '[a javascript link](javascript:window.pwned=6)',
    '[a data link](data:text/html,<script>opener.pwned=7</script>)',
    '![a remote picture](https://evil.example/pixel.png)',
    '![a vector picture](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9InBhcmVudC5wd25lZD04Ii8+)',
    '[an outside link](https://evil.example/)',
    '<form action="https://evil.example/"><button>send</button></form>',
    '`<b>code</b>` <b>bold?</b>',
    '<http://evil.example/auto>',
    'the last line',
  ]
  // ";" would separate words of the scripted Agent.
  const text = hostile.join('\n\n').replaceAll(';', '\\u003b').replaceAll('\n', '\\n')
  await chat.begin(`echo ${text}`)
  await expect(chat.log.getByText('the last line', { exact: true })).toBeVisible()
  for (const shown of ['<script>window.pwned = 1</script>', '<img src=x onerror="window.pwned = 2">', '<style>body { display: none }</style>']) {
    await expect(chat.log.getByText(shown, { exact: true })).toBeVisible()
  }
  await expect(chat.log.locator('script, iframe, style, form, svg circle, b, img, object, embed')).toHaveCount(0)
  const hrefs = await chat.log.locator('[href]').evaluateAll((all) => all.map((a) => a.getAttribute('href')))
  expect(hrefs.toSorted()).toEqual(['http://evil.example/auto', 'https://evil.example/', 'https://evil.example/', 'https://evil.example/pixel.png'])
  for (const link of await chat.log.getByRole('link').all()) await expect(link).toHaveAttribute('rel', 'noopener noreferrer')

  await chat.log.getByText('a javascript link', { exact: true }).click()
  await chat.log.getByText('a data link', { exact: true }).click()
  expect(await page.evaluate(ran)).toBe(false)
  expect(requests.filter((url) => url.includes('evil.example') || url.startsWith('javascript:'))).toEqual([])
  expect(context.pages()).toHaveLength(1)
})

test('hostile titles, tool names, errors and paths are text too (R-CHAT-132)', async ({ chat, page }) => {
  const tag = '<img src=x onerror=pwned=1>'
  await chat.begin(`${tag} is`)
  await expect(chat.title).toHaveText(`${tag} is`)
  await chat.ended()
  await chat.say(`tool ${tag}; think ${tag}; diff /tmp/${tag}; title ${tag}; permission`)
  await chat.log.getByRole('button', { name: 'Reject' }).click()
  await expect(chat.log.getByText('permission: selected reject')).toBeVisible()
  const closed = chat.log.locator('button[aria-expanded=false]')
  await expect(async () => {
    await closed.first().click({ timeout: 1000 }).catch(() => undefined) // an opened group has more
    await expect(closed).toHaveCount(0, { timeout: 100 })
  }).toPass()
  await expect(chat.log.getByRole('button', { name: `Read: ${tag}` })).toBeVisible()
  await chat.ended()
  await chat.say(`error -32603 ${tag}`)
  await expect(chat.log.getByText(tag, { exact: true }).last()).toBeVisible()
  await expect(page.locator('img')).toHaveCount(0)
  expect(await page.evaluate(ran)).toBe(false)
})
