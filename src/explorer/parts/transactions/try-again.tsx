import { useSignal } from '@preact/signals'
import { document, type TryAgainData } from '../../../generated/explorer/try-again.ts'
import { type Answer, sendDocument } from '../../graphql.ts'
import { detailTexts } from '../../texts-details.ts'
import { sentenceOf } from '../states.tsx'

/** A button that checks a transaction against the current ledger without submitting it. */

const words = detailTexts.tryAgain

type Verdict = NonNullable<TryAgainData['verifyTransaction']>

export function TryAgain({ bytes }: { readonly bytes: string }) {
  const answer = useSignal<Answer<TryAgainData> | 'CHECKING' | undefined>(undefined)
  const run = async () => {
    answer.value = 'CHECKING'
    answer.value = await sendDocument(document, { bytes })
  }
  const { value } = answer
  return (
    <div class="try-again">
      <button type="button" class="button" disabled={value === 'CHECKING'} onClick={run}>
        {words.button}
      </button>{' '}
      <span role="status">
        {value !== undefined && (value === 'CHECKING' ? words.checking : textOf(value))}
      </span>
    </div>
  )
}

function textOf(answer: Answer<TryAgainData>): string {
  if (!answer.ok) return sentenceOf(answer.failure)
  const [failure] = answer.failures
  if (failure !== undefined) return sentenceOf(failure)
  const verdict = answer.data.verifyTransaction
  return verdict === null ? '' : verdictOf(verdict)
}

function verdictOf({ outcome, refusal, failure }: Verdict): string {
  if (refusal !== null) return words.refused(refusal.message)
  if (failure !== null) return words.failed(failure.code, failure.name, failure.sentence)
  return outcome === 'KNOWN' ? words.known : words.accepted
}
