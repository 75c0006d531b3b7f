import { expect, it } from 'vitest'

import { linesOf, parseEnv } from './parse'

it('reads one argument a line', () => {
  expect(linesOf(' --acp \n\n--model=a b\n')).toEqual(['--acp', '--model=a b'])
})

it('reads NAME=value lines and names the first that is none', () => {
  expect(parseEnv('A=1\n\nB_2=x=y \nEMPTY=')).toEqual({ env: { A: '1', B_2: 'x=y ', EMPTY: '' }, badLine: 0 })
  expect(parseEnv('A=1\nnot a pair').badLine).toBe(2)
  expect(parseEnv('1A=2').badLine).toBe(1)
})
