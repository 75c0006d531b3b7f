import { describe, expect, it } from 'vitest'
import { Stick, Unseen } from './stick'

const row = (key: string, type = 'markdown') => ({ key, type })

describe('Stick (R-CHAT-007)', () => {
  it('stays away when the list itself moves the view near the end', () => {
    const stick = new Stick()
    stick.scrolled(1000, 0, 1500)
    stick.leave()
    stick.scrolled(997, 3, 1500)
    stick.scrolled(1019, 3, 1522)
    stick.scrolled(9019, 3, 9522)
    stick.scrolled(9019, 3, 9522)
    expect(stick.stuck).toBe(false)
    stick.scrolled(9021, 1, 9522)
    expect(stick.stuck).toBe(true)
  })

  it('leaves a hand that holds it by however little, and follows again when that goes back', () => {
    const stick = new Stick()
    stick.scrolled(1000, 0, 1500)
    stick.hold(true)
    stick.scrolled(990, 10, 1500)
    expect(stick.stuck).toBe(false)
    stick.scrolled(995, 25, 1520)
    expect(stick.stuck).toBe(true)
  })
})

describe('Unseen', () => {
  it('counts the blocks that came below the last one seen', () => {
    const u = new Unseen<ReturnType<typeof row>>()
    const [a, b] = [row('a'), row('b')]
    expect(u.count([a, b])).toBe(0)
    u.all([a, b])
    expect(u.count([a, b])).toBe(0)
    expect(u.count([a, b, row('c'), row('d'), row('d:foot', 'foot')])).toBe(2)
  })

  it('tells growth from new blocks', () => {
    const u = new Unseen<ReturnType<typeof row>>()
    u.all([row('a')])
    expect(u.count([row('a')])).toBe('grown')
    expect(u.count([row('a'), row('b')])).toBe(1)
    u.all([row('z')])
    expect(u.count([row('a')])).toBe('grown')
  })

  it('counts down while one scrolls to what came, and never up by scrolling back', () => {
    const rows = ['a', 'b', 'c', 'd'].map((k) => row(k))
    const u = new Unseen<ReturnType<typeof row>>()
    u.all(rows.slice(0, 1))
    expect(u.count(rows)).toBe(3)
    u.upTo(rows, 2)
    expect(u.count(rows)).toBe(1)
    u.upTo(rows, 0)
    expect(u.count(rows)).toBe(1)
  })

  it('keeps count when older rows come in front', () => {
    const rows = ['b', 'c'].map((k) => row(k))
    const u = new Unseen<ReturnType<typeof row>>()
    u.all(rows.slice(0, 1))
    expect(u.count([row('a'), ...rows])).toBe(1)
  })
})
