import type { PromptItem } from '@/core/timeline'
import { texts } from '@/i18n'

/** What the timeline says; loads with it. */
export const { t, plural } = texts({
  en: {
    label: 'Your messages',
    value: '{i} of {n}: {text}',
    images: 'Image attachment|{n} images',
    file: 'File',
    join: ', ',
  },
  'zh-CN': {
    label: '你的消息',
    value: '第 {i} 条，共 {n} 条：{text}',
    images: '图片附件|{n} 张图片',
    file: '文件',
    join: '、',
  },
})

/** One line for an item. */
export function summary(item: PromptItem): string {
  if (item.kind === 'text') return item.text
  const files = item.files.map((name) => name || t('file'))
  return [...(item.images > 0 ? [images(item.images)] : []), ...files].join(t('join'))
}

/** Chinese knows no plural, but one image is not counted. */
function images(n: number): string {
  return n === 1 ? t('images').split('|')[0]! : plural('images', n)
}
