import { useSignal } from '@preact/signals'
import { document } from '../../../generated/explorer/output-proof.ts'
import { loaded } from '../../build.ts'
import { type Failure, offline, sendDocument } from '../../graphql.ts'
import { detailTexts } from '../../texts-details.ts'
import { Fact, Facts, Section } from '../facts.tsx'
import { sentenceOf } from '../states.tsx'
import { Mark } from '../values/mark.tsx'
import { SlotLink } from '../values/moments.tsx'
import type { ProofCheck } from './output-proof.ts'
import type { UnspentCheck } from './unspent-proof.ts'

/** A button that verifies in the browser that an output belongs to its transaction, and that a commitment contains it. */

const words = detailTexts.proof

type Check =
  | { readonly verdict: 'CHECKING' }
  | { readonly failure: Failure }
  | (ProofCheck & { readonly ledger: LedgerCheck })

/** The check of the output against a commitment, or the reason why it was not checked. */
type LedgerCheck = UnspentCheck | { readonly why: string }

export function Proof({ id }: { readonly id: string }) {
  const check = useSignal<Check | undefined>(undefined)
  const run = async () => {
    check.value = { verdict: 'CHECKING' }
    check.value = await checkOutput(id)
  }
  return (
    <Section title={words.title}>
      <p class="proof-ask">
        <button
          type="button"
          class="button"
          disabled={check.value !== undefined && isChecking(check.value)}
          onClick={run}
        >
          {check.value === undefined ? words.check : words.again}
        </button>{' '}
        <span class="muted">{words.what}</span>
      </p>
      <div role="status">{check.value !== undefined && <Outcome of={check.value} />}</div>
    </Section>
  )
}

/** Requests the proof and loads the code that verifies it. */
async function checkOutput(id: string): Promise<Check> {
  try {
    const [code, answer] = await Promise.all([
      loaded(Promise.all([import('./output-proof.ts'), import('./unspent-proof.ts')])),
      sendDocument(document, { id }),
    ])
    if (code === undefined) return offline
    const [{ checkProof }, { checkUnspent }] = code
    if (!answer.ok) return answer
    const { output } = answer.data
    const noUnspentProof = answer.failures.find(({ path }) => path.at(-1) === 'unspentProof')
    const failure = answer.failures.find((one) => one !== noUnspentProof)
    if (failure !== undefined) return { failure }
    if (!output?.proof) return offline
    const { bytes, proof, unspentProof, isSpent } = output
    const whyNot = isSpent ? words.spent : words.waits
    const why = noUnspentProof === undefined ? whyNot : sentenceOf(noUnspentProof)
    // The id of the page is used, because the gateway may return another output.
    const outputId = id.toLowerCase()
    const ledger = unspentProof === null ? { why } : checkUnspent(outputId, unspentProof)
    return { ...checkProof({ outputId, bytes, proof }), ledger }
  } catch {
    return offline
  }
}

function isChecking(check: Check): boolean {
  return 'verdict' in check && check.verdict === 'CHECKING'
}

function Outcome({ of: check }: { readonly of: Check }) {
  if ('failure' in check) return <p>{sentenceOf(check.failure)}</p>
  if (check.verdict === 'CHECKING') return <p class="muted">{words.checking}</p>
  return (
    <>
      <Verdict isGood={check.verdict === 'PROVEN'} sentence={words.verdicts[check.verdict]} />
      <Facts>
        <Hash name={words.outputHash} of={check.outputHash} />
        <Hash name={words.root} of={check.root} />
        <Hash name={words.transaction} of={check.transactionId} />
      </Facts>
      {'why' in check.ledger ? <p>{check.ledger.why}</p> : <Committed of={check.ledger} />}
    </>
  )
}

function Committed({ of: { verdict, slot, ...hashes } }: { readonly of: UnspentCheck }) {
  const isGood = verdict === 'COMMITTED'
  return (
    <>
      <Verdict isGood={isGood} sentence={words.verdicts[verdict]} />
      <Facts>
        <Hash name={words.stateRoot} of={hashes.stateRoot} />
        <Hash name={words.rootsId} of={hashes.rootsId} />
        <Hash name={words.commitment} of={hashes.commitmentId} />
        <Fact name={words.milestone}>
          <SlotLink of={slot} />
        </Fact>
      </Facts>
      {isGood && <p>{words.notProven}</p>}
    </>
  )
}

function Verdict({ isGood, sentence }: { readonly isGood: boolean; readonly sentence: string }) {
  return (
    <p class="sentence">
      <Mark as={isGood ? 'done' : 'failed'}>{isGood ? words.proven : words.refused}</Mark>{' '}
      {sentence}
    </p>
  )
}

function Hash({ name, of: hash }: { readonly name: string; readonly of: string }) {
  return (
    <Fact name={name}>
      <code class="hash">{hash}</code>
    </Fact>
  )
}
