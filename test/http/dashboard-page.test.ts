// How the page goes out: its headers, its forms, its size. What it shows is tested in a browser.

import { expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { bundlePage } from '../../src/http/page-bundle.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT, sourceFiles } from '../support/source-files.ts'
import { startHttp, type More, type HttpRelay } from './http-relay.ts'

const FIRST_BYTES_MAX = 90 * 1_024
const PAGE_BYTES_MAX = 25 * 1_024
/** The rules of all countries' phone numbers, which a page loads behind its first view. */
const NUMBERS_BYTES_MAX = 122 * 1_024
/** Of all other scripts, those of pages included that nobody opens. */
const ALL_BYTES_MAX = 268 * 1_024

const FILES = await bundlePage(`${ROOT}/src/dashboard/index.html`)
const SCRIPTS = pathsOf('.js')

function pathsOf(ending: string): readonly string[] {
  return FILES.map(({ path }) => path).filter((path) => path.endsWith(ending))
}

/** What a file of the page says, as a browser has it. */
function textOf(path: string): string {
  const file = FILES.find((one) => one.path === path)
  if (file === undefined) throw new Error(`The page has no ${path}.`)
  return gunzipSync(Buffer.from(file.gzip, 'base64')).toString()
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

function kib(paths: readonly string[]): string {
  return `${(sizeOf(paths) / 1_024).toFixed(1)} KiB`
}

function withoutTag(response: Response): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headersOf(response)).filter(([name]) => name !== 'etag'))
}

async function pathsIn(rig: HttpRelay): Promise<readonly string[]> {
  const text = await (await rig.call('GET', '/')).text()
  return [...text.matchAll(/(?:src|href)="([^"]+)"/g)]
    .map((match) => match[1] ?? '')
    .filter((path) => path !== '/manifest.webmanifest')
    .filter((path) => !path.startsWith('data:'))
}

async function scriptPath(rig: HttpRelay): Promise<string> {
  const path = (await pathsIn(rig)).find((one) => one.endsWith('.js'))
  if (path === undefined) throw new Error('The page has no script.')
  return path
}

function headersOf(response: Response): Readonly<Record<string, string>> {
  return Object.fromEntries([...response.headers].filter(([name]) => name !== 'x-request-id'))
}

test('the page opens without a key, may load nothing from elsewhere, and is asked for each time', async () => {
  await using rig = await startHttp()

  const response = await rig.call('GET', '/', { headers: { 'x-api-key': '', 'x-api-secret': '' } })

  expect(response.status).toBe(200)
  expect(headersOf(response)).toEqual({
    'content-type': 'text/html;charset=utf-8',
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    etag: expect.stringMatching(/^"[A-Za-z0-9_-]{16}"$/),
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
      "connect-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  })
})

test('all that the page loads are files of its own, named after their content and kept for a year', async () => {
  await using rig = await startHttp()

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
  const text = await (await (await startHttp()).call('GET', '/')).text()

  expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/)
})

test('a file comes in the best form that the browser takes, and is the same in each', async () => {
  await using rig = await startHttp()
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
  await using rig = await startHttp()
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
  await using rig = await startHttp()
  const headers = { 'accept-encoding': 'br' }

  const head = await rig.call('HEAD', '/', { headers })
  const whole = await rig.call('GET', '/', { headers })
  const { byteLength } = await whole.arrayBuffer()

  expect(head.status).toBe(200)
  expect(await head.text()).toBe('')
  expect(headersOf(head)).toEqual({ ...headersOf(whole), 'content-length': String(byteLength) })
})

test('what is no file of the page is no route, and the page takes no other method', async () => {
  await using rig = await startHttp()

  const unknown = await rig.call('GET', '/assets/index-00000000.js')
  const climbing = await rig.call('GET', '/assets/..%2f..%2fpackage.json')
  const post = await rig.call('POST', '/')

  expect([unknown.status, climbing.status, post.status]).toEqual([404, 404, 405])
  expect(post.headers.get('allow')).toBe('GET, HEAD')
})

test('a page that rebinds DNS does not get this one', async () => {
  const response = await (
    await startHttp()
  ).call('GET', '/', { headers: { host: 'evil.example.com' } })

  expect(response.status).toBe(421)
})

test('the first view is one script of at most 90 KiB, minified and not compressed', () => {
  const loaded = scriptsBehind(importsIn('/'))

  process.stdout.write(
    `The page: ${kib(loaded)} of script at first, ${kib(SCRIPTS)} with all pages; ` +
      `${kib(pathsOf('.css'))} of style.\n`,
  )

  expect(loaded).toHaveLength(1)
  expect(sizeOf(loaded)).toBeGreaterThan(10_000)
  expect(sizeOf(loaded)).toBeLessThanOrEqual(FIRST_BYTES_MAX)
})

const isNumbers = (path: string) => path.startsWith('/assets/phone-numbers-')

test('all pages together have at most 268 KiB of script, and the rules of numbers 122 KiB', () => {
  const all = sizeOf(SCRIPTS.filter((path) => !isNumbers(path)))
  expect(all).toBeLessThanOrEqual(ALL_BYTES_MAX)
  expect(sizeOf(SCRIPTS.filter(isNumbers))).toBeLessThanOrEqual(NUMBERS_BYTES_MAX)
})

test('browsers can install the page, with an icon', async () => {
  await using rig = await startHttp()
  expect(await (await rig.call('GET', '/')).text()).toContain('href="/manifest.webmanifest"')

  const manifest = await rig.call('GET', '/manifest.webmanifest')
  const { icons, ...app } = (await manifest.json()) as { icons: { src: string }[] }
  const icon = await rig.call('GET', icons[0]?.src ?? '')

  expect(manifest.headers.get('content-type')).toBe('application/manifest+json')
  expect(app).toMatchObject({ name: 'Hookline', start_url: '/', display: 'standalone' })
  expect(icon.headers.get('content-type')).toBe('image/svg+xml')
})

test('a page, part or dialog that is opened later loads at most 25 KiB more', () => {
  const first = scriptsBehind(importsIn('/'))

  const sizes = pagesBehind(first).map((page): readonly [string, number] => {
    const more = scriptsBehind([page]).filter((path) => !first.includes(path))
    return [page.replace(/-[a-z0-9]{8}\.js$/, ''), sizeOf(more)]
  })

  process.stdout.write(
    `${sizes.map(([page, bytes]) => `${page} ${(bytes / 1_024).toFixed(1)}`).join(', ')}\n`,
  )
  expect(sizes.length).toBeGreaterThan(15)
  expect(sizes.filter(([, bytes]) => bytes > PAGE_BYTES_MAX)).toEqual([])
})

test('what several scripts need is in one of them', () => {
  const all = sourceFiles('src/dashboard/words/*.ts').flatMap(({ text }) =>
    [...text.matchAll(/'([^'\\]{25,})'/g)].map((match) => match[1] ?? ''),
  )
  const sentences = all.filter((each) => all.indexOf(each) === all.lastIndexOf(each))
  const texts = SCRIPTS.map(textOf)

  const twice = sentences.filter((each) => texts.filter((text) => text.includes(each)).length > 1)

  expect(sentences.length).toBeGreaterThan(100)
  expect(twice).toEqual([])
})

test('what a page loads when it is opened goes out as the first script does', async () => {
  await using rig = await startHttp()
  const path = await scriptPath(rig)
  const later = scriptsBehind(pagesIn(path)).filter((one) => one !== path)

  const first = await rig.call('GET', path)
  const answers = await Promise.all(later.map((one) => rig.call('GET', one)))

  expect(later.length).toBeGreaterThan(4)
  expect(answers.map(({ status }) => status)).toEqual(later.map(() => 200))
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
