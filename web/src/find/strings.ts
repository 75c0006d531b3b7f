import { texts } from '@/i18n'

/** What the find bar says; loads with it. */
export const { t, plural } = texts({
  en: {
    title: 'Find in this session',
    label: 'Find',
    placeholder: 'Find in this session',
    count: '{n} of {total}',
    countOlder: '{total}+',
    none: 'No matches',
    noneYet: 'No matches yet',
    searching: 'Searching…',
    older: 'Searching older messages… {n} message so far|Searching older messages… {n} messages so far',
    previous: 'Previous match',
    next: 'Next match',
    matchCase: 'Match case',
    close: 'Close find',
  },
  'zh-CN': {
    title: '在会话中查找',
    label: '查找',
    placeholder: '在会话中查找',
    count: '第 {n} 个，共 {total} 个',
    countOlder: '{total}+',
    none: '没有匹配项',
    noneYet: '暂无匹配项',
    searching: '正在查找…',
    older: '正在查找更早的消息… 已查找 {n} 条',
    previous: '上一个匹配项',
    next: '下一个匹配项',
    matchCase: '区分大小写',
    close: '关闭查找',
  },
})
