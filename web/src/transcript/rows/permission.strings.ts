import { texts } from '@/i18n'

const en = {
  title: 'The Agent asks for permission',
  more: '{n} more option…|{n} more options…',
  'selected.user': 'You chose “{option}”',
  'selected.policy': '“{option}” was chosen automatically',
  'cancelled.user': 'You cancelled the request',
  'cancelled.policy': 'Cancelled: the Agent offered nothing that may be chosen automatically',
  'cancelled.turn': 'Not answered before the turn ended',
  'cancelled.agent': 'The Agent withdrew the request',
}

const zhCN: typeof en = {
  title: 'Agent 请求权限',
  more: '还有 {n} 个选项…',
  'selected.user': '你选择了“{option}”',
  'selected.policy': '已自动选择“{option}”',
  'cancelled.user': '你取消了此请求',
  'cancelled.policy': '已取消：Agent 没有提供可自动选择的选项',
  'cancelled.turn': '本轮结束前未答复',
  'cancelled.agent': 'Agent 撤回了此请求',
}

/** What requests and their answers say. */
export const { t: say, plural: sayMany } = texts({ en, 'zh-CN': zhCN })
