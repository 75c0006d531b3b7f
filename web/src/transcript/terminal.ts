import { styleOf, type Hue } from '@/core/ansi'
import type { Looks } from './highlight'

/** Colours of a terminal on the ground of code, light and dark, each with a contrast of 4.5 or more. */
export const terminalColors: Record<Exclude<Hue, ''>, readonly [string, string]> = {
  red: ['#b42326', '#f2797b'],
  green: ['#1b6e34', '#6cc98a'],
  yellow: ['#7a5a00', '#e3c04d'],
  blue: ['#1d5bb8', '#7ab0ff'],
  magenta: ['#8a35a8', '#d699ef'],
  cyan: ['#0b6a78', '#5ccfe0'],
  gray: ['#5d6978', '#929eac'],
}

/** A coloured ground is a tint under text of the usual colour, since not every pair of colours can be read. */
export const TINT = 16

/** The looks of terminal output; see core/ansi.ts. */
export const terminalLooks: Looks = (style) => {
  const { color, ground, underline, strike } = styleOf(style)
  const out: string[] = []
  if (ground) {
    const [light, dark] = terminalColors[ground].map((c) => `color-mix(in srgb, ${c} ${TINT}%, transparent)`)
    out.push(`background-color: light-dark(${light}, ${dark})`)
  } else if (color) out.push(`color: light-dark(${terminalColors[color].join(', ')})`)
  if (underline || strike) out.push(`text-decoration: ${underline ? 'underline' : ''} ${strike ? 'line-through' : ''}`)
  return out.join('; ')
}
