import { integer } from 'drizzle-orm/sqlite-core'

import type { Timestamp } from '../domain/ids.ts'

/** A time in milliseconds since 1970. */
export const at = (name: string) => integer(name).$type<Timestamp>()

/** 0 or 1. */
export const flag = (name: string) => integer(name, { mode: 'boolean' })
