// A new password, typed twice, and a switch that shows both.
//
//   const chosen = useNewPassword()
//   <NewPasswordFields chosen={chosen} refusal={fieldError(…)} />     chosen.isFit() marks what is wrong and says whether it is right

import { useSignal, type Signal } from '@preact/signals'

import { PasswordField } from '../components/field.tsx'
import { Switch } from '../components/switch.tsx'
import { passwordProblem, strengthWords } from './setup-password-words.ts'

export type NewPassword = {
  readonly password: Signal<string>
  readonly repeated: Signal<string>
  /** The password that was tried last: what is wrong with it stands there until another one is typed. */
  readonly tried: Signal<string | null>
  isFit(): boolean
}

export function useNewPassword(): NewPassword {
  const password = useSignal('')
  const repeated = useSignal('')
  const tried = useSignal<string | null>(null)
  return {
    password,
    repeated,
    tried,
    isFit() {
      tried.value = password.value + repeated.value
      return passwordProblem(password.value) === null && password.value === repeated.value
    },
  }
}

type Props = {
  readonly chosen: NewPassword
  /** What the relay has against it. */
  readonly refusal: string | null
}

export function NewPasswordFields({ chosen, refusal }: Props) {
  const { password, repeated, tried } = chosen
  const isShown = useSignal(false)
  const words = { type: isShown.value ? 'text' : 'password', autoComplete: 'new-password' } as const
  const isTried = tried.value === password.value + repeated.value
  const problem = isTried ? passwordProblem(password.value) : null
  const isDifferent = isTried && problem === null && password.value !== repeated.value
  return (
    <>
      <PasswordField
        {...words}
        label="New password"
        bind={password}
        hint={strengthWords(password.value)}
        error={problem ?? refusal}
      />
      <PasswordField
        {...words}
        label="Once more"
        bind={repeated}
        error={isDifferent ? 'The two are not the same.' : null}
      />
      <Switch
        label="Show what I type"
        isOn={isShown.value}
        onChange={(isOn) => (isShown.value = isOn)}
      />
    </>
  )
}
