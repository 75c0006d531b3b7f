import { texts } from '@/i18n'

/** What the popup of commands and files says; loads with it. */
export const { t, plural } = texts({
  en: {
    commands: 'Commands',
    files: 'Files',
    'commands.found': '{n} command|{n} commands',
    'files.found': '{n} file|{n} files',
    'files.none': 'No file fits',
    'files.failed': 'Files could not be listed: {reason}',
    'files.capped': 'Not all files were looked at; type more of the name',
  },
  'zh-CN': {
    commands: '命令',
    files: '文件',
    'commands.found': '{n} 个命令',
    'files.found': '{n} 个文件',
    'files.none': '没有匹配的文件',
    'files.failed': '无法列出文件：{reason}',
    'files.capped': '未检查全部文件，请输入更多文件名',
  },
})
