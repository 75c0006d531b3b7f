// Runs before each file of tests.

import { loadLanguage } from '@/i18n'

// Tests change the language without waiting for it.
if (typeof document !== 'undefined') await loadLanguage('zh-CN')
