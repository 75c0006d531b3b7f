// The one client of this window.

import { Client } from '@/api/client'

/** The calls to Core. Tests put their own in its place. */
export const client = new Client()
