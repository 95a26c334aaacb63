// How the page goes out: its headers, its forms, its size. What it shows is tested in a browser.

import { afterAll, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { bundlePage } from '../../src/http/page-bundle.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT } from '../support/source-files.ts'
import { startHttp, type More } from './http-relay.ts'

const FIRST_BYTES_MAX = 92 * 1_024
const PAGE_BYTES_MAX = 26 * 1_024
/** The rules of all countries' phone numbers, which a page loads behind its first view. */
const NUMBERS_BYTES_MAX = 124 * 1_024
/** Of all other scripts, those of pages included that nobody opens. */
const ALL_BYTES_MAX = 314 * 1_024

const FILES = await bundlePage(`${ROOT}/src/dashboard/index.html`)
const TEXTS = new Map(
  await Promise.all(
    FILES.map(async ({ path, brotli }) => {
      return [path, brotliDecompressSync(await brotli.bytes()).toString()] as const
    }),
  ),
)
const SCRIPTS = FILES.map(({ path }) => path).filter((path) => path.endsWith('.js'))

const rig = await startHttp()
afterAll(() => rig[Symbol.asyncDispose]())

/** The page as it goes out, asked for once: a run from source bundles it each time that it is opened. */
const PAGE = await rig.call('GET', '/', { headers: { 'x-api-key': '', 'x-api-secret': '' } })
const HTML = await PAGE.text()
const LOADED = [...HTML.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
  (match) => match[1] ?? '',
)
const SCRIPT = LOADED.find((path) => path.endsWith('.js')) ?? 'The page has no script.'

/** What a file of the page says, as a browser has it. */
function textOf(path: string): string {
  const text = TEXTS.get(path)
  if (text === undefined) throw new Error(`The page has no ${path}.`)
  return text
}

/** The scripts that a browser loads along with a file, before that one runs. */
function importsIn(path: string): readonly string[] {
  const matches = textOf(path).matchAll(/(?:\bsrc=|\bfrom|\bimport)"(\/assets\/[^"]+\.js)"/g)
  return [...matches].map((match) => match[1] ?? '')
}

/** The scripts of pages, parts and dialogs that a script loads when they are opened. */
function pagesIn(path: string): readonly string[] {
  return [...textOf(path).matchAll(/\bimport\("([^"]+)"\)/g)].map((match) => match[1] ?? '')
}

/** The same, with those that are opened from there. */
function pagesBehind(paths: readonly string[]): readonly string[] {
  const found = new Set<string>()
  const look = (path: string) => {
    for (const page of scriptsBehind([path]).flatMap(pagesIn)) {
      if (isNumbers(page) || found.has(page)) continue
      found.add(page)
      look(page)
    }
  }
  paths.forEach(look)
  return [...found]
}

/** These scripts and all that they cannot run without. */
function scriptsBehind(paths: readonly string[]): readonly string[] {
  const found = new Set(paths)
  for (const path of found) for (const more of importsIn(path)) found.add(more)
  return [...found]
}

function sizeOf(paths: readonly string[]): number {
  const sizes = FILES.filter(({ path }) => paths.includes(path)).map(({ sizeBytes }) => sizeBytes)
  return sizes.reduce((sum, bytes) => sum + bytes, 0)
}

function headersOf(response: Response): Readonly<Record<string, string>> {
  return Object.fromEntries([...response.headers].filter(([name]) => name !== 'x-request-id'))
}

test('the page opens without a key, may load nothing from elsewhere, and is asked for each time', () => {
  expect(PAGE.status).toBe(200)
  expect(headersOf(PAGE)).toEqual({
    'content-type': 'text/html;charset=utf-8',
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    etag: expect.stringMatching(/^"[A-Za-z0-9_-]{16}"$/),
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; " +
      "connect-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
  // Its policy would forbid a script or style of its own inside.
  expect(HTML).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/)
})

test('all that the page loads are files of its own, named after their content and kept for a year', async () => {
  const others = [...HTML.matchAll(/(?:src|href)="([^"]+)"/g)]
    .map((match) => match[1] ?? '')
    .filter((path) => !LOADED.includes(path))

  const answers = await Promise.all(LOADED.map((path) => rig.call('GET', path)))

  expect(others.filter((path) => !/^(?:\/manifest\.webmanifest$|data:)/.test(path))).toEqual([])
  expect(LOADED.length).toBeGreaterThan(1)
  for (const path of LOADED) expect(path).toMatch(/^\/assets\/[a-z]+-[a-z0-9]{8}\.(js|css)$/)
  expect(
    answers.map(({ status, headers }) => [
      status,
      headers.get('cache-control'),
      headers.get('content-type')?.split(';')[0],
    ]),
  ).toEqual(
    LOADED.map((path) => [
      200,
      'public, max-age=31536000, immutable',
      path.endsWith('.js') ? 'text/javascript' : 'text/css',
    ]),
  )
})

test('a file comes in the best form that the browser takes, and is the same in each', async () => {
  const accepted = ['br, gzip', 'gzip, deflate', 'GZIP;q=0.5, br;q=0', 'identity', 'br;q=0.0']

  const answers = await Promise.all(
    accepted.map((value) => rig.call('GET', SCRIPT, { headers: { 'accept-encoding': value } })),
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
  const ask = (headers: More['headers'] = {}) => rig.call('GET', SCRIPT, { headers })
  const plain = (await ask()).headers.get('etag') ?? ''
  const brotli = (await ask({ 'accept-encoding': 'br' })).headers.get('etag') ?? ''

  const answers = await Promise.all([
    ask({ 'if-none-match': plain }),
    ask({ 'if-none-match': `"other", W/${plain}` }),
    ask({ 'if-none-match': '*' }),
    ask({ 'if-none-match': brotli, 'accept-encoding': 'br' }),
    ask({ 'if-none-match': brotli }),
    ask({ 'if-none-match': plain.replaceAll('"', '') }),
  ])
  const headers = { 'accept-encoding': 'br' }
  const head = await rig.call('HEAD', SCRIPT, { headers })
  const whole = await ask(headers)
  const { byteLength } = await whole.arrayBuffer()

  expect(brotli).toBe(plain.replace(/"$/, '-br"'))
  expect(answers.map(({ status }) => status)).toEqual([304, 304, 304, 304, 200, 200])
  expect(await answers[0]?.text()).toBe('')
  expect(answers[0]?.headers.get('etag')).toBe(plain)
  expect(answers[0]?.headers.has('content-encoding')).toBe(false)
  // Asked for its head only, it says how long it is.
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect(headersOf(head)).toEqual({ ...headersOf(whole), 'content-length': String(byteLength) })
})

test('what is no file of the page is no route, and the page takes no other method', async () => {
  const unknown = await rig.call('GET', '/assets/index-00000000.js')
  const climbing = await rig.call('GET', '/assets/..%2f..%2fpackage.json')
  const post = await rig.call('POST', '/')

  expect([unknown.status, climbing.status, post.status]).toEqual([404, 404, 405])
  expect(post.headers.get('allow')).toBe('GET, HEAD')
})

const isNumbers = (path: string) => path.startsWith('/assets/handle-')

test('the first view is one script of at most 92 KiB, and each page, part or dialog 26 KiB more', () => {
  const first = scriptsBehind(importsIn('/'))
  const later = pagesBehind(first).map((page): readonly [string, number] => {
    const more = scriptsBehind([page]).filter((path) => !first.includes(path))
    return [page, sizeOf(more)]
  })

  expect(first).toHaveLength(1)
  expect(sizeOf(first)).toBeWithin(10_000, FIRST_BYTES_MAX + 1)
  expect(later.length).toBeGreaterThan(15)
  expect(later.filter(([, bytes]) => bytes > PAGE_BYTES_MAX)).toEqual([])
  expect(sizeOf(SCRIPTS.filter((path) => !isNumbers(path)))).toBeLessThanOrEqual(ALL_BYTES_MAX)
  expect(sizeOf(SCRIPTS.filter(isNumbers))).toBeLessThanOrEqual(NUMBERS_BYTES_MAX)
})

test('browsers can install the page, with an icon', async () => {
  const manifest = await rig.call('GET', '/manifest.webmanifest')
  const { icons, ...app } = (await manifest.json()) as { icons: { src: string }[] }
  const icon = await rig.call('GET', icons[0]?.src ?? '')

  expect(HTML).toContain('href="/manifest.webmanifest"')
  expect(manifest.headers.get('content-type')).toBe('application/manifest+json')
  expect(app).toMatchObject({ name: 'Hookline', start_url: '/', display: 'standalone' })
  expect(icon.headers.get('content-type')).toBe('image/svg+xml')
})

test('what a page loads when it is opened goes out as the first script does', async () => {
  const later = scriptsBehind(pagesIn(SCRIPT)).filter((one) => one !== SCRIPT)
  const withoutTag = ({ status, headers }: Response) => ({
    status,
    ...Object.fromEntries(
      headers.entries().filter(([name]) => !/^(etag|x-request-id)$/.test(name)),
    ),
  })

  const first = await rig.call('GET', SCRIPT)
  const answers = await Promise.all(later.map((one) => rig.call('GET', one)))

  expect(later.length).toBeGreaterThan(4)
  expect(first.status).toBe(200)
  expect(answers.map(withoutTag)).toEqual(later.map(() => withoutTag(first)))
})

test('a script that loads another has another name once that one changes', async () => {
  using folder = new ScratchFolder()
  await Bun.write(`${folder.path}/index.html`, '<script type="module" src="./main.ts"></script>')
  await Bun.write(`${folder.path}/main.ts`, "void import('./later.ts')")
  await Bun.write(`${folder.path}/later.ts`, 'document.title = "old"')
  const before = await bundlePage(`${folder.path}/index.html`)
  await Bun.write(`${folder.path}/later.ts`, 'document.title = "new"')

  const after = await bundlePage(`${folder.path}/index.html`)

  const kept = after.filter(({ path }) => before.some((file) => file.path === path))
  expect(before).toHaveLength(3)
  expect(kept.map(({ path }) => path)).toEqual(['/'])
})

test('a page that cannot be bundled says why', async () => {
  const bundling = bundlePage(`${ROOT}/src/dashboard/nowhere.html`)

  await expect(bundling).rejects.toThrow('The page cannot be bundled: ')
})
