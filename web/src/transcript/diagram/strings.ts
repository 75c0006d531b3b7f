import { texts } from '@/i18n'

const en = {
  diagram: 'Diagram',
  drawing: 'Drawing…',
  source: 'Show source',
  picture: 'Show diagram',
  failed: 'The diagram cannot be drawn: {reason}',
  late: 'it takes too long',
  empty: 'there is nothing in it',
}

const zhCN: typeof en = {
  diagram: '图表',
  drawing: '正在绘制…',
  source: '显示源码',
  picture: '显示图表',
  failed: '图表无法绘制：{reason}',
  late: '耗时过长',
  empty: '没有内容',
}

export const { t } = texts({ en, 'zh-CN': zhCN })
