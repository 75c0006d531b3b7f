// Everything about attachments in a composer, as one chunk that loads after the page.

export { upload } from '@/api/upload'
export { trayOf } from './attach'
export { default as AttachButton } from './AttachButton.vue'
export { default as AttachTray } from './AttachTray.vue'
