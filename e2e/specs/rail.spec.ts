import type { Locator, Page } from '@playwright/test'

import { axe, expect, fitsNarrow, test } from '../fixtures.ts'

const rail = (page: Page): Locator => page.getByRole('complementary', { name: 'Event rail' })
const agenda = (page: Page): Locator => page.getByRole('region', { name: 'Agenda' })
const waiting = (page: Page): Locator => page.getByRole('region', { name: 'Waiting for you' })

/** An agenda as the scripted Agent sends it. */
const plan = (entries: object[]): string =>
  `update64 ${Buffer.from(JSON.stringify({ sessionUpdate: 'plan', entries })).toString('base64')}`

test('the rail shows the agenda of the Session, replaced as a whole, and goes with its last content (R-CHAT-135, 137, 138, R-ACT-100, 102)', async ({ chat, core, page }) => {
  await expect(chat.title).toBeVisible()
  await expect(rail(page)).toHaveCount(0)
  const first = [
    { content: 'Read the parser', status: 'completed', priority: 'low' }, { content: 'Mend it', status: 'in_progress', priority: 'high' },
    { content: 'Write tests' },
  ]
  const id = await chat.begin(plan(first))
  await chat.ended()
  await expect(agenda(page).getByRole('listitem')).toHaveText([
    /^Done: Read the parser\s*Low priority$/, /^In progress: Mend it\s*High priority$/, /^Not begun: Write tests$/,
  ])
  await expect(agenda(page)).toContainText('1 of 3 done')
  await axe(page)
  await page.reload()
  await expect(agenda(page)).toContainText('1 of 3 done')

  await agenda(page).getByRole('button').press('Enter')
  await expect(agenda(page).getByRole('listitem')).toHaveCount(0)
  await agenda(page).getByRole('button').press('Enter')
  await chat.say(plan([{ content: 'Only this', status: 'tomorrow', priority: 'urgent' }]))
  await expect(agenda(page).getByRole('listitem')).toHaveText([/^Not begun: Only this$/])
  await chat.ended()

  await chat.sidebar.getByRole('button', { name: 'New Session' }).click()
  await expect(chat.title).toHaveText('New Session')
  await expect(rail(page)).toHaveCount(0)
  await page.goto(`${core.origin}/chat/${id}`)
  await expect(agenda(page)).toContainText('Only this')
  await chat.say(plan([]))
  await expect(rail(page)).toHaveCount(0)
})

test('it is collapsed to a strip and stays so, over Sessions, reloads and restarts (R-CHAT-136, R-ACT-101)', async ({ chat, core, page }) => {
  await chat.begin(plan([{ content: 'One', status: 'completed' }, { content: 'Two' }]))
  await rail(page).getByRole('button', { name: 'Collapse the event rail' }).click()
  await expect(agenda(page)).toHaveCount(0)
  await expect(rail(page)).toContainText('1/2')
  await axe(page)
  await page.reload()
  await expect(rail(page)).toContainText('1/2')
  await page.goto('about:blank')
  await core.stop()
  await core.start()
  await page.goto(await core.url(core.project))
  await expect(page.getByText('Scripted is ready')).toBeVisible()
  await chat.begin(plan([{ content: 'Another', status: 'completed' }]))
  await expect(rail(page)).toContainText('1/1')
  await rail(page).getByRole('button', { name: 'Expand the event rail' }).click()
  await expect(agenda(page).getByRole('listitem')).toHaveText([/Another/])
})

test('an open request is listed, and leads to its card wherever that stands (R-ACT-107)', async ({ chat, page }) => {
  await chat.begin('permission')
  const card = chat.log.getByRole('region', { name: /permission/ })
  await expect(waiting(page)).toContainText('1 request')
  await expect(waiting(page).getByRole('listitem')).toContainText('Run rm -rf build')
  await expect(waiting(page).getByRole('button', { name: /Allow/ })).toHaveCount(0)
  await card.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await expect(rail(page)).toHaveCount(0)

  // Far below what is read.
  await chat.say('stream 60000 40 prose; permission')
  await expect(card).toBeVisible()
  await chat.log.press('Home')
  await expect(card).toHaveCount(0)
  await waiting(page).getByRole('listitem').getByRole('button').press('Enter')
  await expect(card).toBeInViewport()
  await expect(card).toBeFocused()
  await axe(page)
  await page.keyboard.press('Tab')
  await expect(card.getByRole('button').first()).toBeFocused()
  await page.keyboard.press('Enter')
  await chat.ended()
})

test('a request of no call leads to the end of the conversation', async ({ chat, page }) => {
  await chat.begin('stream 30000 20 prose; permission bare')
  const card = chat.log.getByRole('region', { name: /permission/ })
  await expect(card).toBeVisible()
  await chat.log.press('Home')
  await waiting(page).getByRole('listitem').getByRole('button').click()
  await expect(card).toBeInViewport()
  await expect(card).toBeFocused()
})

test('in a narrow page a button of the header opens it over the conversation (R-ACT-109)', async ({ chat, page }) => {
  await chat.begin(`${plan([{ content: '一个很长的条目，用来检查换行 and_a_very_long_word_without_any_spaces_in_it_at_all', status: 'in_progress' }])}; permission`)
  await expect(waiting(page)).toBeVisible()
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(rail(page)).toHaveCount(0)
  await page.getByRole('button', { name: 'Event rail' }).click()
  const over = page.getByRole('dialog', { name: 'Event rail' })
  await expect(over.getByRole('region', { name: 'Agenda' })).toContainText('一个很长的条目')
  await axe(page)
  await page.keyboard.press('Escape')
  await expect(over).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Event rail' })).toBeFocused()
  await page.keyboard.press('Enter')
  await over.getByRole('region', { name: 'Waiting for you' }).getByRole('listitem').getByRole('button').click()
  await expect(over).toHaveCount(0)
  await expect(chat.log.getByRole('region', { name: /permission/ })).toBeFocused()
  await fitsNarrow(page)
})

test('hostile entries are text: nothing runs, nothing is fetched, nothing breaks out', async ({ chat, page }) => {
  const entries = ['<img src=x onerror=alert(1)>', '\u202Eevil', '[a](javascript:alert(1))', 'x'.repeat(5000), '', '\u0000'].map((content) => ({ content }))
  await chat.begin(plan(entries))
  await expect(agenda(page).getByRole('listitem')).toHaveCount(5) // an entry without words is none
  await expect(agenda(page).getByRole('listitem').first()).toContainText('<img src=x onerror=alert(1)>')
  expect(await rail(page).evaluate((el) => el.scrollWidth <= el.clientWidth)).toBe(true)
})
