// A new password, typed twice, and a switch that shows both.
//
//   const chosen = useNewPassword()
//   <NewPasswordFields chosen={chosen} refusal={fieldError(…)} />     chosen.isFit() marks what is wrong and says whether it is right

import { useSignal, type Signal } from '@preact/signals'

import { TextField } from '../components/field.tsx'
import { Switch } from '../components/switch.tsx'
import { passwordProblem, strengthWords } from './setup-password-words.ts'

export type NewPassword = {
  readonly password: Signal<string>
  readonly repeated: Signal<string>
  /** What is wrong with it, beside the field. */
  readonly problem: Signal<string | null>
  readonly isDifferent: Signal<boolean>
  isFit(): boolean
}

export function useNewPassword(): NewPassword {
  const password = useSignal('')
  const repeated = useSignal('')
  const problem = useSignal<string | null>(null)
  const isDifferent = useSignal(false)
  return {
    password,
    repeated,
    problem,
    isDifferent,
    isFit() {
      problem.value = passwordProblem(password.value)
      isDifferent.value = problem.value === null && password.value !== repeated.value
      return problem.value === null && !isDifferent.value
    },
  }
}

type Props = {
  readonly chosen: NewPassword
  /** What the relay has against it. */
  readonly refusal: string | null
}

export function NewPasswordFields({ chosen, refusal }: Props) {
  const { password, repeated, problem, isDifferent } = chosen
  const isShown = useSignal(false)
  const type = isShown.value ? 'text' : 'password'
  return (
    <>
      <TextField
        label="New password"
        type={type}
        autoComplete="new-password"
        value={password.value}
        hint={strengthWords(password.value)}
        error={problem.value ?? refusal}
        onInput={(text) => {
          password.value = text
          problem.value = null
          isDifferent.value = false
        }}
      />
      <TextField
        label="Once more"
        type={type}
        autoComplete="new-password"
        value={repeated.value}
        error={isDifferent.value ? 'The two are not the same.' : null}
        onInput={(text) => {
          repeated.value = text
          isDifferent.value = false
        }}
      />
      <Switch
        label="Show what I type"
        isOn={isShown.value}
        onChange={(isOn) => (isShown.value = isOn)}
      />
    </>
  )
}
