import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'

import { takeScreenshots } from '../../scripts/screenshots.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { findChromium } from './chromium.ts'

/** The eight bytes at which each PNG file begins, read as Latin-1. */
const PNG_SIGNATURE = '\u0089PNG\r\n\u001A\n'

testNeeding('Chromium', findChromium() !== null)(
  'the pictures in the README can be taken again',
  async () => {
    using folder = new ScratchFolder()

    await takeScreenshots(folder.path)

    for (const name of ['dashboard', 'thread', 'dashboard-dark', 'thread-dark']) {
      const picture = readFileSync(folder.file(`${name}.png`), 'latin1')
      expect(picture.slice(0, PNG_SIGNATURE.length)).toBe(PNG_SIGNATURE)
    }
  },
)
