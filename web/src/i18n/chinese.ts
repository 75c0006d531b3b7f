// Every string of the first page in Simplified Chinese; loaded by pages that speak it only.

import transcript from '@/transcript/strings.zh-CN'

import type { StringKey } from './index'
import { zhCN } from './zh-CN'

export const chinese: Record<StringKey, string> = { ...zhCN, ...transcript }
