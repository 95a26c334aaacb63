// The page as the executable carries it: bundled and minified at the build, apart from the server.

import { expect, test } from 'bun:test'

import { bundlePage } from '../../src/http/page-bundle.ts'
import { RelayProcess, temporaryDataDir } from '../support/relay-process.ts'
import { ROOT } from '../support/source-files.ts'

/** The pages that are loaded when they are first opened. */
const LATER = ['keys', 'lines', 'settings', 'setup', 'webhooks']

test('the executable serves each script of the page minified and compressed, and says which it is', async () => {
  using dir = temporaryDataDir()
  await using relay = await RelayProcess.start({ dataDir: dir.path })
  const files = await bundlePage(`${ROOT}/src/dashboard/index.html`)

  const told = await Promise.all(
    files.map(async ({ path }) => {
      const answer = await fetch(`${relay.url}${path}`, { headers: { 'accept-encoding': 'br' } })
      const sizeBytes = (await answer.arrayBuffer()).byteLength
      const { status, headers } = answer
      return [path, status, headers.get('content-encoding'), headers.get('etag'), sizeBytes]
    }),
  )

  const paths = files.map(({ path }) => path.replace(/-[a-z0-9]{8}\./, '.'))
  for (const name of LATER) expect(paths).toContain(`/assets/${name}.js`)
  expect(told).toEqual(
    files.map(({ path, hash, sizeBytes }) => [path, 200, 'br', `"${hash}-br"`, sizeBytes]),
  )
})
