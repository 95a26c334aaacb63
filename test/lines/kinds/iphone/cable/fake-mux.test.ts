// Whether the stand-in for usbmuxd, on which the other tests rest, answers as the real one does, also
// what nobody should send. Where no real one can run, a line says so.

import { expect, test } from 'bun:test'
import { connect } from 'node:net'

import { parse } from 'plist'

import { FakeMux, frame } from '../../../../support/iphone/fake-mux.ts'
import { canJudge, RealUsbmuxd, whyNoUsbmuxd } from '../../../../support/iphone/real-usbmuxd.ts'
import { ScratchFolder } from '../../../../support/scratch-folder.ts'

const ifUsbmuxd = test.if(canJudge('the real usbmuxd beside its stand-in', whyNoUsbmuxd()))

const LIST = request({ MessageType: 'ListDevices' })

type Oddity = {
  readonly what: string
  /** The first is sent at once, each other after an answer. */
  readonly sent: readonly Uint8Array[]
  /** How many frames are waited for; the end of the connection counts as one. */
  readonly frames: number
}

type Answers = { readonly what: string; readonly answers: readonly unknown[] }

const ODDITIES: readonly Oddity[] = [
  { what: 'a list of no phones', sent: [LIST], frames: 1 },
  { what: 'two requests in one piece', sent: [Buffer.concat([LIST, LIST])], frames: 2 },
  { what: 'an unknown request', sent: [request({ MessageType: 'Dance' })], frames: 1 },
  {
    what: 'a connection to no phone, and another request',
    sent: [request({ MessageType: 'Connect', PortNumber: 32_498 }), LIST],
    frames: 2,
  },
  {
    what: 'a connection to a phone that is gone',
    sent: [request({ MessageType: 'Connect', DeviceID: 5, PortNumber: 32_498 })],
    frames: 1,
  },
  {
    what: 'a pair record that is not there',
    sent: [request({ MessageType: 'ReadPairRecord', PairRecordID: 'x' })],
    frames: 1,
  },
  {
    what: 'a pair record without a name',
    sent: [request({ MessageType: 'ReadPairRecord' })],
    frames: 1,
  },
  { what: 'Listen, then anything', sent: [request({ MessageType: 'Listen' }), LIST], frames: 2 },
  {
    what: 'a payload that is no list, and another request',
    sent: [Buffer.concat([withPayload('nonsense'), LIST])],
    frames: 1,
  },
  { what: 'another version', sent: [withWord(4, 2)], frames: 1 },
  { what: 'a length below that of a head', sent: [withWord(0, 15)], frames: 1 },
  { what: 'a length beyond any request', sent: [withWord(0, 65_537)], frames: 1 },
]

ifUsbmuxd('the stand-in answers as the real usbmuxd does, whatever is sent', async () => {
  await using real = new RealUsbmuxd()
  await real.start()
  using folder = new ScratchFolder()
  const fake = await FakeMux.start(folder.file('usbmuxd'))

  // One at a time: the real one now and then closes a connection when another ends beside it.
  const [ofReal, ofFake] = [await allAnswers(real.path), await allAnswers(fake.path)]

  await fake.stop()
  expect(ofFake).toEqual(ofReal)
  expect(ofReal.map(({ answers }) => answers.length)).toEqual(ODDITIES.map(({ frames }) => frames))
})

async function allAnswers(path: string): Promise<readonly Answers[]> {
  const all: Answers[] = []
  for (const one of ODDITIES) all.push({ what: one.what, answers: await answersTo(path, one) })
  return all
}

function request(message: Readonly<Record<string, unknown>>): Buffer {
  return frame(9, message)
}

function withPayload(payload: string): Buffer {
  const head = Buffer.from(LIST.subarray(0, 16))
  head.writeUInt32LE(16 + payload.length, 0)
  return Buffer.concat([head, Buffer.from(payload)])
}

/** A request with another word in its head: 0 is the length, 4 the version. */
function withWord(at: number, word: number): Buffer {
  const bytes = Buffer.from(LIST)
  bytes.writeUInt32LE(word, at)
  return bytes
}

/** What comes back, frame by frame; `closed` for the end of the connection. */
async function answersTo(path: string, { sent, frames }: Oddity): Promise<readonly unknown[]> {
  const [first, ...later] = sent
  const answers: unknown[] = []
  const done = Promise.withResolvers<void>()
  const socket = connect(path)
  let received = Buffer.alloc(0)
  const take = (answer: unknown) => {
    answers.push(answer)
    const next = later.shift()
    if (next !== undefined) socket.write(next)
    if (answers.length === frames) done.resolve()
  }
  socket.on('error', () => {})
  socket.on('close', () => take('closed'))
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    while (received.byteLength >= 16 && received.byteLength >= received.readUInt32LE(0)) {
      const whole = received.subarray(0, received.readUInt32LE(0))
      received = received.subarray(whole.byteLength)
      take(contentOf(whole))
    }
  })
  socket.write(first ?? '')
  await Promise.race([done.promise, Bun.sleep(2_000)])
  const seen = [...answers]
  socket.destroy()
  return seen
}

function contentOf(whole: Buffer): unknown {
  const [version, kind, tag] = [4, 8, 12].map((at) => whole.readUInt32LE(at))
  const payload = whole.subarray(16)
  const content = kind === 8 ? parse(payload.toString()) : payload.toString('hex')
  return { version, kind, tag, content }
}
