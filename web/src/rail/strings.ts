import { texts } from '@/i18n'

/** What the event rail says; loads with it. */
export const { t, plural } = texts({
  en: {
    title: 'Event rail',
    agenda: 'Agenda',
    done: '{done} of {total} done',
    asks: 'Waiting for you',
    count: '{n} request|{n} requests',
    untitled: 'A permission request',
    collapse: 'Collapse the event rail',
    expand: 'Expand the event rail',
    failed: 'The preference could not be stored',
    'status.pending': 'Not begun',
    'status.in_progress': 'In progress',
    'status.completed': 'Done',
    'priority.high': 'High priority',
    'priority.low': 'Low priority',
  },
  'zh-CN': {
    title: '事件栏',
    agenda: '议程',
    done: '已完成 {done}/{total}',
    asks: '等待你处理',
    count: '{n} 个请求',
    untitled: '权限请求',
    collapse: '收起事件栏',
    expand: '展开事件栏',
    failed: '无法保存偏好设置',
    'status.pending': '未开始',
    'status.in_progress': '进行中',
    'status.completed': '已完成',
    'priority.high': '高优先级',
    'priority.low': '低优先级',
  },
})
