import { texts } from '@/i18n'

/** What the configuration button and the context ring say; loads with them. */
export const { t } = texts({
  en: {
    config: 'Config',
    'config.menu': 'Session configuration',
    'config.button': 'Session configuration: {label}',
    'config.failed': 'The configuration was not changed',
    'usage.context': 'Context: {percent}% used ({used} of {size} tokens).',
    'usage.yellow': 'Keep an eye on the use.',
    'usage.orange': 'Start a new Session or have the conversation summarised.',
    'usage.red': 'The next prompt may fail. Start a new Session.',
  },
  'zh-CN': {
    config: '配置',
    'config.menu': '会话配置',
    'config.button': '会话配置：{label}',
    'config.failed': '配置未能更改',
    'usage.context': '上下文：已使用 {percent}%（{used} / {size} tokens）。',
    'usage.yellow': '请留意用量。',
    'usage.orange': '建议新建会话，或让 Agent 总结对话。',
    'usage.red': '下一条消息可能失败，请新建会话。',
  },
})
