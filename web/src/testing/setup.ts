// Runs before each file of tests.

// Tests change the language without waiting for it. Those of the core have no page, and load nothing of one.
if (typeof document !== 'undefined') {
  const { loadLanguage } = await import('@/i18n')
  await loadLanguage('zh-CN')
}

export {}
