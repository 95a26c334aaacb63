import { expect, test } from 'bun:test'

import { filledPath } from '../../src/domain/paths.ts'

test('a parameter stays one segment of the path, whatever it is', () => {
  const values = ['msg_1', 'a/b', '..', '.', '', '%2e%2e', '?q#h']

  const paths = values.map((id) => new URL(filledPath('/messages/:id/content', { id }), 'http://a'))

  for (const { pathname, search } of paths) {
    expect(pathname).toMatch(/^\/messages\/[^/]+\/content$/)
    expect(search).toBe('')
  }
})
