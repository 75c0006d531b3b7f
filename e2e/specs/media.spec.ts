import { axe, expect, fitsNarrow, test } from '../fixtures.ts'

test('a picture of an answer is shown live, after a reload and after a restart (R-CHAT-096)', async ({ chat, core, page }) => {
  await chat.begin('echo Look:; image; permission; echo End.')
  const picture = chat.log.getByRole('img', { name: 'Image' })
  const loaded = () => picture.evaluate((img: HTMLImageElement) => [img.src.split(':')[0], img.naturalWidth])
  await expect(picture).toBeVisible()
  expect(await loaded(), 'while the turn runs').toEqual(['blob', 1])
  await page.reload()
  await expect(picture).toBeVisible()
  expect(await loaded(), 'after a reload in the turn').toEqual(['blob', 1])
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await chat.ended()
  await page.reload()
  await expect(picture).toBeVisible()
  await axe(page)
  await fitsNarrow(page)
})
