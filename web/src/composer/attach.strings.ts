import { texts } from '@/i18n'

const en = {
  add: 'Attach files…',
  list: 'Attachments',
  remove: 'Remove {name}',
  retry: 'Upload {name} again',
  again: 'Retry',
  uploading: 'Uploading {name}',
  drop: 'Drop images and files here',
  unfit: 'The Agent does not take this.',
  refused: 'Not attached: {why}.',
  cannot: 'Cannot be sent: {why}.',
  images: '{n} image the Agent does not take|{n} images the Agent does not take',
  files: '{n} file the Agent does not take|{n} files the Agent does not take',
  directories: '{n} directory|{n} directories',
  large: '{n} over 25 MiB|{n} over 25 MiB',
  many: '{n} too many for one message|{n} too many for one message',
  join: ', ',
  wait: 'The files are still being uploaded.',
  failed: 'A file could not be uploaded. Try it again, or remove it.',
  lost: 'The files of this draft must be added again: {names}',
  removeFailed: 'The file could not be removed: {reason}',
  close: 'Close',
}

const zhCN: Record<keyof typeof en, string> = {
  add: '添加附件…',
  list: '附件',
  remove: '移除{name}',
  retry: '重新上传{name}',
  again: '重试',
  uploading: '正在上传{name}',
  drop: '将图片和文件拖到此处',
  unfit: '当前 Agent 不支持此附件。',
  refused: '未添加：{why}。',
  cannot: '无法发送：{why}。',
  images: '{n} 张图片不受当前 Agent 支持',
  files: '{n} 个文件不受当前 Agent 支持',
  directories: '{n} 个文件夹',
  large: '{n} 个超过 25 MiB',
  many: '{n} 个超出单条消息上限',
  join: '，',
  wait: '文件仍在上传。',
  failed: '有文件上传失败。请重试或移除。',
  lost: '此草稿的附件需要重新添加：{names}',
  removeFailed: '无法移除该文件：{reason}',
  close: '关闭',
}

/** The texts of attachments in the composer; they load with what shows them. */
export const { t, plural } = texts({ en, 'zh-CN': zhCN })
