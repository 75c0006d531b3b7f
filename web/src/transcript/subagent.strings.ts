import { texts } from '@/i18n'

const en = {
  type: 'Agent type',
  model: 'Model',
  tokens: 'Tokens',
  duration: 'Duration',
  ms: '{n} ms',
  calls: 'Tool calls',
  reads: 'Files read',
  searches: 'Searches',
  commands: 'Commands',
  edits: 'Files edited',
  linesAdded: 'Lines added',
  linesRemoved: 'Lines removed',
  others: 'Other tools',
  prompt: 'Prompt',
  steps: 'Steps',
  waiting: 'Waiting for the first call…',
  none: 'No calls were recorded.',
  final: 'Final answer',
}

const zhCN: typeof en = {
  type: 'Agent 类型',
  model: '模型',
  tokens: 'Token 数',
  duration: '用时',
  ms: '{n} 毫秒',
  calls: '工具调用',
  reads: '读取文件',
  searches: '搜索',
  commands: '命令',
  edits: '编辑文件',
  linesAdded: '新增行',
  linesRemoved: '删除行',
  others: '其他工具',
  prompt: '提示词',
  steps: '步骤',
  waiting: '等待第一个调用…',
  none: '没有记录到调用。',
  final: '最终回答',
}

/** What the details of a subagent say. */
export const say = texts({ en, 'zh-CN': zhCN }).t

export type Key = keyof typeof en
