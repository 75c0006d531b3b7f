import vue from 'eslint-plugin-vue'
import tseslint from 'typescript-eslint'

const feature = ['chat', 'sidebar', 'composer', 'launcher', 'settings', 'transcript', 'changes', 'find', 'timeline', 'spawn', 'rail']

/** Features meet in chat/ and App.vue only; they never import each other. What shows a transcript elsewhere is built on it. */
function lonely(name) {
  const others = feature.filter((f) => f !== name && !(name === 'spawn' && f === 'transcript'))
  return {
    files: [`src/${name}/**`],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: others.map((f) => `@/${f}/**`), message: 'features meet in chat/ only' }] },
      ],
    },
  }
}

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'src/api/schema.gen.ts'] },
  ...tseslint.configs.recommended,
  ...vue.configs['flat/recommended'],
  {
    files: ['**/*.vue', '**/*.ts'],
    languageOptions: { parserOptions: { parser: tseslint.parser } },
    rules: {
      'no-undef': 'off',
      'no-console': 'error',
      eqeqeq: 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'only MdBlock.vue writes HTML, through DOMPurify' },
        { property: 'outerHTML', message: 'only MdBlock.vue writes HTML, through DOMPurify' },
        { property: 'insertAdjacentHTML', message: 'only MdBlock.vue writes HTML, through DOMPurify' },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'CallExpression[callee.name="defineAsyncComponent"]', message: 'use lazy() of ui/lazy.ts, which outlives a Core that is away' },
      ],
      'vue/no-v-html': 'error',
      'vue/multi-word-component-names': 'off',
      'vue/require-default-prop': 'off',
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
      'vue/component-api-style': ['error', ['script-setup']],
      // Layout is the writer's business.
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/multiline-html-element-content-newline': 'off',
      'vue/html-self-closing': 'off',
      'vue/html-closing-bracket-newline': 'off',
      'vue/html-indent': 'off',
      'vue/first-attribute-linebreak': 'off',
    },
  },
  { files: ['src/ui/lazy.ts'], rules: { 'no-restricted-syntax': 'off' } },
  { files: ['src/transcript/MdBlock.vue'], rules: { 'vue/no-v-html': 'off' } },
  { files: ['**/*.test.ts', 'scripts/**'], rules: { 'no-restricted-properties': 'off', 'no-console': 'off' } },
  {
    files: ['src/core/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: ['vue', 'vue-router', 'reka-ui', 'virtua', 'virtua/vue'],
          patterns: [{ group: ['*.vue', '@/ui/**', '@/transcript/**', '@/state/**'], message: 'core knows no view' }],
        },
      ],
    },
  },
  ...feature.filter((f) => f !== 'chat').map(lonely),
)
