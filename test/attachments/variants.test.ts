// Tools of the machine are stand-ins here: shell scripts that do what a test says.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

import { eventually } from '../support/eventually.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { PNG, startWithFiles } from './attachment-relay.ts'

/** Enough of a picture of an iPhone to be known as one. */
const HEIC = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')
const CAF = Buffer.from('caff\0\x01\0\0desc', 'latin1')
const MOV = Buffer.from('\0\0\0\x14ftypqt  \0\0\0\0qt  ', 'latin1')

/** A relay on a machine with these tools; each script finds its last argument in `$out`. */
async function startWithTools(scripts: Readonly<Record<string, string>>) {
  const tools = new ScratchFolder()
  for (const [name, script] of Object.entries(scripts)) {
    const head = `#!/bin/sh\nfor out in "$@"; do :; done\nout="\${out#file:}"\necho "${name} $*" >> ${tools.path}/calls\n`
    writeFileSync(tools.file(name), head + script, { mode: 0o700 })
  }
  const findTool = (name: string) => (name in scripts ? tools.file(name) : null)
  const relay = await startWithFiles({ parts: { findTool } })
  const read = (name: string) => readFileSync(tools.file(name), 'utf8').trim().split('\n')
  return {
    ...relay,
    read,
    calls: () => read('calls'),
    isCalled: () => existsSync(tools.file('calls')),
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      tools[Symbol.dispose]()
    },
  }
}

const CONVERTS = 'printf converted > "$out"'

const CONVERSIONS: readonly (readonly [tool: string, bytes: Buffer, name: string, mime: string])[] =
  [
    ['sips', HEIC, 'IMG_1.jpg', 'image/jpeg'],
    ['ffmpeg', HEIC, 'IMG_1.jpg', 'image/jpeg'],
    ['afconvert', CAF, 'IMG_1.m4a', 'audio/mp4'],
    ['ffmpeg', CAF, 'IMG_1.m4a', 'audio/mp4'],
    ['ffmpeg', MOV, 'IMG_1.mp4', 'video/mp4'],
  ]

for (const [tool, bytes, name, mime] of CONVERSIONS) {
  test(`${tool} makes a compatible ${mime} once, beside the original`, async () => {
    await using relay = await startWithTools({ [tool]: CONVERTS })
    const { body } = await relay.upload(new Uint8Array(bytes), '?filename=IMG_1.ABC')

    const first = await relay.content(body.id, { query: '?variant=compatible' })
    const again = await relay.content(body.id, { query: '?variant=compatible' })
    const original = await relay.content(body.id)

    expect(body.variants).toContain('compatible')
    for (const response of [first, again]) {
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe(mime)
      expect(response.headers.get('content-disposition')).toContain(`filename="${name}"`)
      expect(response.headers.get('etag')).toBe(`"${body.sha256}-compatible"`)
      expect(await response.text()).toBe('converted')
    }
    expect(new Uint8Array(await original.arrayBuffer())).toEqual(new Uint8Array(bytes))
    expect(relay.calls()).toHaveLength(1)
    expect(relay.files().toSorted()).toEqual([body.sha256, `${body.sha256}.compatible`])
  })
}

test('a machine without tools says so, unless everyone can open the file as it is', async () => {
  await using relay = await startWithTools({})
  const [heic, png] = [await relay.upload(new Uint8Array(HEIC)), await relay.upload(PNG)]

  for (const variant of ['compatible', 'thumbnail']) {
    const response = await relay.content(heic.body.id, { query: `?variant=${variant}` })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ error: { code: 'variant_unavailable' } })
  }
  const unknown = await relay.content(heic.body.id, { query: '?variant=large' })
  const own = await relay.content(png.body.id, { query: '?variant=compatible' })

  expect(unknown.status).toBe(400)
  expect(png.body.variants).toEqual(['original'])
  expect(own.headers.get('etag')).toBe(`"${png.body.sha256}"`)
  expect(Buffer.from(await own.arrayBuffer())).toEqual(PNG)
})

const FAILURES = {
  'that fails': 'exit 1',
  'that makes nothing': 'exit 0',
  'whose picture has no end': 'head -c 3000000 /dev/zero > "$out"',
}

test.each(Object.entries(FAILURES))(
  'a tool %s leaves nothing, and is not tried again at once',
  async (_name, script) => {
    await using relay = await startWithTools({ sips: script })
    const { body } = await relay.upload(PNG)
    const ask = async () => (await relay.content(body.id, { query: '?variant=thumbnail' })).status

    const statuses = [await ask(), await ask()]
    await relay.clock.advance(600_000)
    statuses.push(await ask())

    expect(statuses).toEqual([422, 422, 422])
    expect(relay.calls()).toHaveLength(2)
    expect(relay.files()).toEqual([body.sha256])
  },
)

test('a child that hangs is ended after 20 seconds, and the relay goes on meanwhile', async () => {
  await using relay = await startWithTools({ sips: 'sleep 600' })
  const { body } = await relay.upload(PNG)

  const waiting = relay.content(body.id, { query: '?variant=thumbnail' })
  await eventually('the child has begun', () => (relay.isCalled() ? true : null))
  const meanwhile = await relay.content(body.id)
  await relay.clock.advance(20_000)
  const response = await waiting

  expect(meanwhile.status).toBe(200)
  expect(response.status).toBe(422)
})

test('children take turns, and requests for one variant share one', async () => {
  await using relay = await startWithTools({
    sips: `echo begin >> "$(dirname "$0")/turns"; sleep 0.1; echo end >> "$(dirname "$0")/turns"; ${CONVERTS}`,
  })
  const [one, two] = [await relay.upload(PNG), await relay.upload(new Uint8Array(HEIC))]

  const ids = [one.body.id, one.body.id, two.body.id, two.body.id]
  const answers = await Promise.all(
    ids.map((id) => relay.content(id, { query: '?variant=thumbnail' })),
  )

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(relay.read('turns')).toEqual(['begin', 'end', 'begin', 'end'])
})

test('ffmpeg reads a file by the one reader of its type, with limits to time, output and memory', async () => {
  await using relay = await startWithTools({
    ffmpeg: `(ulimit -t; ulimit -f; ulimit -v) > "$(dirname "$0")/limits"; ${CONVERTS}`,
  })
  const { body } = await relay.upload(PNG)

  await relay.content(body.id, { query: '?variant=thumbnail' })

  const [call = ''] = relay.calls()
  expect(call).toContain('-protocol_whitelist file -f png_pipe -i file:/')
  expect(call).toContain(' -max_pixels 100000000 ')
  const [seconds, blocks, memory] = relay.read('limits')
  expect([seconds, blocks]).toEqual(['30', '2048'])
  if (process.platform === 'linux') expect(memory).toBe('1572864')
})

test('if there is no room for a variant, the answer is 503 and nothing is kept', async () => {
  await using relay = await startWithTools({ sips: 'head -c 900000 /dev/zero > "$out"' })
  await relay.set('attachment_quota_gb', '1')
  relay.occupy(1_024 ** 3 - 500_000)
  const { body } = await relay.upload(PNG)

  const response = await relay.content(body.id, { query: '?variant=thumbnail' })

  expect(response.status).toBe(503)
  expect(relay.files()).toHaveLength(2)
})

test('variants go with their original', async () => {
  await using relay = await startWithTools({ sips: CONVERTS })
  const { body } = await relay.upload(PNG)
  await relay.content(body.id, { query: '?variant=thumbnail' })
  await relay.clock.advance(60_000)

  await relay.ask('DELETE', `/api/v1/attachments/${body.id}`)
  const gone = await relay.content(body.id, { query: '?variant=thumbnail' })

  expect(relay.files()).toEqual([])
  expect(gone.status).toBe(410)
})

testNeeding('ffmpeg', Bun.which('ffmpeg') !== null)(
  'the real ffmpeg makes a small picture',
  async () => {
    await using relay = await startWithFiles({
      parts: { findTool: (name) => (name === 'ffmpeg' ? Bun.which(name) : null) },
    })
    const { body } = await relay.upload(PNG)

    const response = await relay.content(body.id, { query: '?variant=thumbnail' })

    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(response.status).toBe(200)
    expect([...bytes.subarray(0, 3)]).toEqual([0xff, 0xd8, 0xff])
  },
)
