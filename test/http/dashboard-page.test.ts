// How the page goes out: its headers, its forms, its size. What it shows is tested in a browser.

import { expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { bundlePage } from '../../src/http/page-bundle.ts'
import { ROOT } from '../support/source-files.ts'
import { createRig, type More, type Rig } from './http-rig.ts'

const SCRIPT_BYTES_MAX = 90 * 1_024

const FILES = await bundlePage(`${ROOT}/src/dashboard/index.html`)

async function pathsIn(rig: Rig): Promise<readonly string[]> {
  const text = await (await rig.call('GET', '/')).text()
  return [...text.matchAll(/(?:src|href)="([^"]+)"/g)]
    .map((match) => match[1] ?? '')
    .filter((path) => !path.startsWith('data:'))
}

async function scriptPath(rig: Rig): Promise<string> {
  const path = (await pathsIn(rig)).find((one) => one.endsWith('.js'))
  if (path === undefined) throw new Error('The page has no script.')
  return path
}

function headersOf(response: Response): Readonly<Record<string, string>> {
  return Object.fromEntries([...response.headers].filter(([name]) => name !== 'x-request-id'))
}

test('the page opens without a key, may load nothing from elsewhere, and is asked for each time', async () => {
  const rig = createRig()

  const response = await rig.call('GET', '/', { headers: { 'x-api-key': '', 'x-api-secret': '' } })

  expect(response.status).toBe(200)
  expect(headersOf(response)).toEqual({
    'content-type': 'text/html;charset=utf-8',
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    etag: expect.stringMatching(/^"[A-Za-z0-9_-]{16}"$/),
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
})

test('all that the page loads are files of its own, named after their content and kept for a year', async () => {
  const rig = createRig()

  const paths = await pathsIn(rig)
  const answers = await Promise.all(paths.map((path) => rig.call('GET', path)))

  expect(paths.length).toBeGreaterThan(1)
  for (const path of paths) expect(path).toMatch(/^\/assets\/[a-z]+-[a-z0-9]{8}\.(js|css)$/)
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200))
  expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(
    paths.map(() => 'public, max-age=31536000, immutable'),
  )
  expect(answers.map(({ headers }) => headers.get('content-type')?.split(';')[0])).toEqual(
    paths.map((path) => (path.endsWith('.js') ? 'text/javascript' : 'text/css')),
  )
})

test('the page has no script or style of its own inside, which its policy would forbid', async () => {
  const text = await (await createRig().call('GET', '/')).text()

  expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/)
})

test('a file comes in the best form that the browser takes, and is the same in each', async () => {
  const rig = createRig()
  const path = await scriptPath(rig)
  const accepted = ['br, gzip', 'gzip, deflate', 'GZIP;q=0.5, br;q=0', 'identity', 'br;q=0.0']

  const answers = await Promise.all(
    accepted.map((value) => rig.call('GET', path, { headers: { 'accept-encoding': value } })),
  )
  const forms = answers.map(({ headers }) => headers.get('content-encoding'))
  const [brotli = [], gzip = [], , plain = []] = await Promise.all(
    answers.map((answer) => answer.arrayBuffer().then((buffer) => new Uint8Array(buffer))),
  )

  expect(forms).toEqual(['br', 'gzip', 'gzip', null, null])
  const text = Buffer.from(plain).toString()
  expect(brotliDecompressSync(Uint8Array.from(brotli)).toString()).toBe(text)
  expect(gunzipSync(Uint8Array.from(gzip)).toString()).toBe(text)
  expect(brotli.length).toBeLessThan(gzip.length)
  expect(gzip.length).toBeLessThan(plain.length / 2)
})

test('what a browser has already is not sent again, and each form has a tag of its own', async () => {
  const rig = createRig()
  const ask = (headers: More['headers']) => rig.call('GET', '/', headers ? { headers } : {})
  const plain = (await ask({})).headers.get('etag') ?? ''
  const brotli = (await ask({ 'accept-encoding': 'br' })).headers.get('etag') ?? ''

  const answers = await Promise.all([
    ask({ 'if-none-match': plain }),
    ask({ 'if-none-match': `"other", W/${plain}` }),
    ask({ 'if-none-match': '*' }),
    ask({ 'if-none-match': brotli, 'accept-encoding': 'br' }),
    ask({ 'if-none-match': brotli }),
    ask({ 'if-none-match': plain.replaceAll('"', '') }),
  ])

  expect(brotli).toBe(plain.replace(/"$/, '-br"'))
  expect(answers.map(({ status }) => status)).toEqual([304, 304, 304, 304, 200, 200])
  expect(await answers[0]?.text()).toBe('')
  expect(answers[0]?.headers.get('etag')).toBe(plain)
  expect(answers[0]?.headers.has('content-encoding')).toBe(false)
})

test('asked for its head only, a file says how long it is and sends nothing', async () => {
  const rig = createRig()
  const headers = { 'accept-encoding': 'br' }

  const head = await rig.call('HEAD', '/', { headers })
  const whole = await rig.call('GET', '/', { headers })
  const { byteLength } = await whole.arrayBuffer()

  expect(head.status).toBe(200)
  expect(await head.text()).toBe('')
  expect(headersOf(head)).toEqual({ ...headersOf(whole), 'content-length': String(byteLength) })
})

test('what is no file of the page is no route, and the page takes no other method', async () => {
  const rig = createRig()

  const unknown = await rig.call('GET', '/assets/index-00000000.js')
  const climbing = await rig.call('GET', '/assets/..%2f..%2fpackage.json')
  const post = await rig.call('POST', '/')

  expect([unknown.status, climbing.status, post.status]).toEqual([404, 404, 405])
  expect(post.headers.get('allow')).toBe('GET, HEAD')
})

test('a page that rebinds DNS does not get this one', async () => {
  const response = await createRig().call('GET', '/', { headers: { host: 'evil.example.com' } })

  expect(response.status).toBe(421)
})

test('the whole page is at most 90 KiB of minified script', () => {
  const scripts = FILES.filter(({ path }) => path.endsWith('.js'))

  const bytes = scripts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThanOrEqual(SCRIPT_BYTES_MAX)
})

test('a page that cannot be bundled says why', async () => {
  const bundling = bundlePage(`${ROOT}/src/dashboard/nowhere.html`)

  await expect(bundling).rejects.toThrow('The page cannot be bundled: ')
})
