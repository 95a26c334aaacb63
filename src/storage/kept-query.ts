import type { Db } from './database.ts'

/**
 * A query of drizzle's that is built once for each database. Building it takes far longer than running it, which
 * matters for queries that loops run each time they wake.
 */
export function keptQuery<Query>(build: (orm: Db['orm']) => Query): (db: Db) => Query {
  const queries = new WeakMap<Db['orm'], Query>()
  return ({ orm }) => {
    const query = queries.get(orm) ?? build(orm)
    queries.set(orm, query)
    return query
  }
}
