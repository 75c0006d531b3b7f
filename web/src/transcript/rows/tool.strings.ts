import { texts } from '@/i18n'

const en = {
  title: 'Title',
  more: '{n} more…|{n} more…',
  input: 'Input',
  output: 'Output',
  error: 'Error',
  'error.none': 'The tool failed without a message.',
  changes: 'Changes',
  locations: 'Locations',
  permissions: 'Permission',
  interrupted: 'The turn ended before this call did.',
  nothing: 'The Agent sent no details.',
  'change.add': 'added',
  'change.update': 'changed',
  'change.delete': 'deleted',
}

const zhCN: typeof en = {
  title: '标题',
  more: '还有 {n} 项…',
  input: '输入',
  output: '输出',
  error: '错误',
  'error.none': '工具失败，未给出原因。',
  changes: '变更',
  locations: '位置',
  permissions: '权限',
  interrupted: '本轮结束时，此调用尚未完成。',
  nothing: 'Agent 未提供详情。',
  'change.add': '新增',
  'change.update': '修改',
  'change.delete': '删除',
}

/** What an opened call says. */
export const { t: say, plural: sayMany } = texts({ en, 'zh-CN': zhCN })
