// The indicator of a running turn (R-CHAT-073 to 076), with a clock that the test moves.

import type { Page } from '@playwright/test'

import type { Core } from '../core.ts'
import { axe, expect, fitsNarrow, test, type Chat } from '../fixtures.ts'

const words = { en: /^(Working|Still at it|On its way|Making progress)$/, zh: /^(正在处理|仍在进行|正在推进|还在继续)$/ }

/** Moves the clock of the page on to a moment after the first content, as Core tells that. */
async function to(page: Page, since: string, ms: number): Promise<void> {
  await page.clock.setFixedTime(Date.parse(since) + ms)
}

/** When the first content of the running turn came, as Core tells every page. */
async function first(core: Core, id: string): Promise<string> {
  return (await core.api<{ turn: { firstContentAt: string } }>('GET', `/api/sessions/${id}`)).turn.firstContentAt
}

async function stop(chat: Chat): Promise<void> {
  await chat.stop.click()
  await chat.ended()
}

test('stands below all content of the answer, from its first content on (R-CHAT-073)', async ({ chat, page }) => {
  await chat.begin('permission; tool Look; echo One.; tool Look; echo Two.; sleep 300ms; tool Look; echo Three.; hang')
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  for (const text of ['One.', 'Two.', 'Three.']) {
    const content = chat.log.getByText(text, { exact: true })
    await expect(content).toBeVisible()
    const word = chat.log.getByText(words.en)
    await expect(word).toBeVisible()
    await expect.poll(async () => (await word.boundingBox())!.y - (await content.boundingBox())!.y, 'px below').toBeGreaterThan(10)
    const rows = await chat.log.locator('[data-row]').all()
    const last = (await rows.at(-1)!.boundingBox())!
    expect((await word.boundingBox())!.y).toBeGreaterThanOrEqual(last.y + last.height)
  }
  await axe(page)
  await fitsNarrow(page)
  await stop(chat)
})

test('counts the seconds from the first content, also after a reload (R-CHAT-074, 076)', async ({ chat, core, page }) => {
  const id = await chat.begin('echo Something.; hang')
  await expect(chat.log.getByText(words.en)).toBeVisible()
  const since = await first(core, id)
  await to(page, since, 42_500)
  await page.reload()
  const [time, word] = [chat.log.locator('.turn-time'), chat.log.getByText(words.en)]
  await expect(time).toHaveText('42 s')
  const seen = new Set<string>()
  for (let s = 43; s < 55; s += 3) {
    await to(page, since, s * 1000 + 200)
    await expect(time).toHaveText(`${s} s`)
    seen.add(await word.innerText())
  }
  expect(seen.size, 'words in 12 s').toBe(4)
  for (const [ms, text] of [[728_900, '12 min 08 s'], [3_600_000, '1 h'], [4_320_000, '1 h 12 min'], [97_200_000, '1 d 3 h']] as const) {
    await to(page, since, ms)
    await page.reload()
    await expect(time).toHaveText(text)
  }
  await stop(chat)
})

test('keeps its start while another Session is read, and two that run do not meet (R-CHAT-076)', async ({ chat, core, page }) => {
  const workspace = await core.workspace()
  const other = await core.begin('Scripted', 'echo Other runs.; hang', workspace)
  await expect.poll(async () => (await core.turn(other)).state).toBe('streaming')
  const id = await chat.begin('echo This runs.; hang')
  await expect(chat.log.getByText(words.en)).toBeVisible()
  const [mine, its] = [Date.parse(await first(core, id)), Date.parse(await first(core, other))]
  const at = Math.max(mine, its) + 30_700
  await page.clock.setFixedTime(at)
  const time = chat.log.locator('.turn-time')
  for (let round = 0; round < 2; round++) {
    await chat.row('Other runs.').click()
    await expect(chat.title).toHaveText(/Other runs/)
    await expect(time).toHaveText(`${Math.floor((at - its) / 1000)} s`)
    await chat.row('This runs.').click()
    await expect(chat.title).toHaveText(/This runs/)
    await expect(time).toHaveText(`${Math.floor((at - mine) / 1000)} s`)
  }
  await chat.stop.click()
  await chat.ended()
  await expect(time).toHaveCount(0)
  await chat.row('Other runs.').click()
  await expect(time).toHaveText(`${Math.floor((at - its) / 1000)} s`)
  await stop(chat)
})

for (const [how, ending, mark] of [
  ['the end', 'echo Whole.', 'Whole.'],
  ['a failure', 'error -32603 Overloaded', 'AGENT_ERROR'],
  ['a crash', 'exit 3', 'AGENT_EXITED'],
] as const) {
  test(`goes at ${how}, and a reload does not bring it back (R-CHAT-075)`, async ({ chat, page }) => {
    await chat.begin(`echo Begun.; permission; ${ending}`)
    await expect(chat.log.locator('.turn-line')).toHaveText(/Waiting for your answer/)
    await chat.log.getByRole('button', { name: 'Allow once' }).click()
    await expect(chat.log.locator('[data-row]').filter({ hasText: mark }).last()).toBeVisible()
    await chat.ended()
    await expect(chat.log.locator('.turn-line')).toHaveCount(0)
    await page.reload()
    await expect(chat.log.locator('[data-row]').filter({ hasText: mark }).last()).toBeVisible()
    await expect(chat.log.locator('.turn-line')).toHaveCount(0)
  })
}

test('what comes after the end does not bring it back, and the next turn has its own time (R-CHAT-076)', async ({ chat, core, page }) => {
  const id = await chat.begin('late 20; title Late title')
  await expect(chat.log.getByText(/^before the answer/)).toBeVisible()
  await chat.ended()
  await expect(chat.log.locator('.turn-line')).toHaveCount(0)
  await chat.say('echo Second.; hang')
  await expect(chat.log.getByText('Second.', { exact: true })).toBeVisible()
  await to(page, await first(core, id), 5200)
  await page.reload()
  await expect(chat.log.locator('.turn-time')).toHaveText('5 s')
  await stop(chat)
})

test('stands still where motion is unwanted', async ({ chat, page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await chat.begin('echo Calm.; hang')
  const word = chat.log.getByText(words.en)
  await expect(word).toBeVisible()
  expect(await word.evaluate((el) => el.getAnimations().filter((a) => a.playState === 'running').length)).toBe(0)
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await expect.poll(() => word.evaluate((el) => el.getAnimations().length)).toBe(1)
  await stop(chat)
})

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' })

  test('the time is written as Chinese writes it (R-CHAT-074)', async ({ core, page }) => {
    const id = await core.begin('Scripted', 'echo 在做。; hang', await core.workspace())
    await expect.poll(async () => (await core.turn(id)).state).toBe('streaming')
    const since = await first(core, id)
    await to(page, since, 42_999)
    await page.goto(await core.url(core.project))
    await page.locator(`[href="/chat/${id}"]`).click()
    await expect(page).toHaveURL(/session-/)
    const log = page.getByRole('log')
    for (const [ms, text] of [[42_999, '42 秒'], [728_000, '12 分 08 秒'], [4_320_000, '1 小时 12 分'], [3_600_000, '1 小时'], [97_200_000, '1 天 3 小时'], [86_400_000, '1 天']] as const) {
      await to(page, since, ms)
      await page.reload()
      await expect(log.locator('.turn-time')).toHaveText(text)
      await expect(log.getByText(words.zh)).toBeVisible()
    }
    await fitsNarrow(page)
    await page.getByRole('button', { name: '停止', exact: true }).first().click()
    await expect(log.locator('.turn-line')).toHaveCount(0)
  })
})
