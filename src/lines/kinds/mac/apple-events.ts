/** What a number that Messages.app or AppleScript gives for a failure means for a line. */
export type FailureClass =
  /** The owner has not allowed us to control Messages.app. */
  | 'permission'
  | 'not_running'
  /** No reply in time; what was asked may still happen. */
  | 'timeout'
  /** No such chat or participant. */
  | 'not_found'
  /** No iMessage account is signed in. */
  | 'no_account'
  /** This Messages.app does not speak the words of our script. */
  | 'vocabulary'
  | 'file'
  | 'failed'

/**
 * Numbers below zero are Apple's (MacErrors.h, AEDataModel.h and ASRegistry.h of its SDK), 1002 is
 * seen from Messages.app by BlueBubbles.
 */
const CLASSES: ReadonlyMap<number, FailureClass> = new Map([
  [-1743, 'permission'], // errAEEventNotPermitted
  [-1744, 'permission'], // errAEEventWouldRequireUserConsent
  [-600, 'not_running'], // procNotFound
  [-609, 'not_running'], // connectionInvalid
  [-10810, 'not_running'], // kLSUnknownErr: it could not be launched
  [-1712, 'timeout'], // errAETimeout
  [-1728, 'not_found'], // errAENoSuchObject
  [-1719, 'no_account'], // errAEIllegalIndex: `1st account whose …` matches none
  [-2753, 'no_account'], // OSAUndefinedVariable; mautrix meets it where the service is missing
  [-1700, 'vocabulary'], // errAECoercionFail
  [-1708, 'vocabulary'], // errAEEventNotHandled
  [-2740, 'vocabulary'], // OSASyntaxError
  [-2741, 'vocabulary'], // OSASyntaxTypeError: the dictionary lacks a word
  [-43, 'file'], // fnfErr
  [-128, 'failed'], // userCanceledErr
  [-2700, 'failed'], // an error without a number of its own
  [-10000, 'failed'], // errAEEventFailed
  [-10004, 'failed'], // errAEPrivilegeError
  [1002, 'failed'],
])

/** Numbers of the script that does not compile: nothing of it can have run. */
const NOT_COMPILED: ReadonlySet<number> = new Set([-2740, -2741])

/** `failed` for a number that nobody has told us of. */
export function classOf(number: number): FailureClass {
  return CLASSES.get(number) ?? 'failed'
}

/** Whether osascript says with `number` that the script was not run at all. */
export function isNotCompiled(number: number | null): boolean {
  return number !== null && NOT_COMPILED.has(number)
}

/**
 * The last integer in parentheses, or null. Nothing else of osascript's error line can be relied on:
 * it is localised, spelt as in the UK or the US, and its apostrophes are typographic.
 */
export function lastNumber(stderr: string): number | null {
  const found = [...stderr.matchAll(/[(\uff08]([-\u2212]?)(\d{1,9})[)\uff09]/g)].at(-1)
  if (found === undefined) return null
  const [, sign, digits] = found
  return sign === '' ? Number(digits) : -Number(digits)
}
