import { expect, test } from 'bun:test'

import { readTarHeader, tarHeader } from '../../src/system/tar.ts'

test('a header names its format and no link, and its path and size are read back, also beyond 8 GiB', () => {
  for (const sizeBytes of [0, 8 * 2 ** 30 - 1, 8 * 2 ** 30, 2 ** 45 + 1]) {
    const header = Buffer.from(tarHeader({ path: 'a.db', sizeBytes, mode: 0o600, seconds: 1 }))

    expect(header.toString('latin1', 257, 265)).toBe('ustar\x0000')
    expect(header.toString('latin1', 157, 257)).toBe('\0'.repeat(100))
    expect(readTarHeader(header)).toEqual({ path: 'a.db', sizeBytes, isFile: true })
  }
})
