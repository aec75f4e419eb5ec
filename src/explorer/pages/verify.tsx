import { document, type Judged, type VerifyPageData } from '../../generated/explorer/verify.ts'
import { capitalized, grouped } from '../format.ts'
import type { PageViewProps } from '../page.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { BrokenRule, BrokenRules } from '../parts/tools/broken-rule.tsx'
import { FailureNote } from '../parts/tools/failure-note.tsx'
import { linkToValue, PasteHead } from '../parts/tools/paste.tsx'
import { variablesOf } from '../parts/tools/pasted.ts'
import { Rules } from '../parts/transactions/rules.tsx'
import { JsonTree } from '../parts/values/json-tree.tsx'
import { CountFact, IdFact } from '../parts/values/value-facts.tsx'
import { toolTexts } from '../texts-tools.ts'
import { toolPage } from '../tool-page.tsx'
import '../styles/details.css'

/** The tool that verifies a block or a signed transaction as if it were submitted now, and lists the rules that hold or break. */

type Inspection = NonNullable<VerifyPageData['inspect']>
type Block = Extract<Inspection, { readonly __typename: 'BlockInspection' }>
type Verdict = NonNullable<Judged['verdict']>

const words = toolTexts.verify

export const page = toolPage(document, VerifyPage, {
  title: words.title,
  variables: variablesOf,
  // Time alone may change the verdict: a timelock ends, or a commitment becomes too old.
  live: ({ inspect }) => (inspect == null ? 'NEVER' : 'MILESTONES'),
})

function VerifyPage({ data: { inspect }, place, failures }: PageViewProps<VerifyPageData>) {
  return (
    <>
      <PasteHead words={words} place={place} failure={failures[0]} />
      {inspect != null && <Judgement of={inspect} />}
      {inspect != null && (
        <p>
          <a class="link-in-text" href={linkToValue('decode', place.fragment)}>
            {words.decode}
          </a>
        </p>
      )}
    </>
  )
}

function Judgement({ of }: { readonly of: Inspection }) {
  switch (of.__typename) {
    case 'BlockInspection':
      return <BlockJudgement of={of} />
    case 'TransactionInspection':
      return <TransactionJudgement of={of} />
    case 'BrokenRule':
      return <BrokenRule of={of} />
    default:
      return <p class="empty">{words.notJudged}</p>
  }
}

function BlockJudgement({ of: block }: { readonly of: Block }) {
  const { refusal, problems, transaction } = block
  return (
    <>
      <Section title={toolTexts.decode.kinds.BlockInspection ?? ''}>
        {refusal === null ? (
          <Good>{words.taken}</Good>
        ) : (
          <FailureNote role="note" title={words.refused}>
            <Refusal message={refusal.message} code={refusal.code} />
          </FailureNote>
        )}
        <BrokenRules of={problems} />
        <Facts>
          <IdFact name={toolTexts.decode.id} of="block" id={block.blockId} isWhole />
        </Facts>
      </Section>
      {transaction === null ? (
        <p class="empty">{words.noTransaction}</p>
      ) : (
        <TransactionJudgement of={transaction} />
      )}
    </>
  )
}

function Good({ children }: { readonly children: string }) {
  return (
    <p class="verdict" role="note">
      <strong>
        <span aria-hidden="true">✓</span> {children}
      </strong>
    </p>
  )
}

function TransactionJudgement({ of: { transactionId, verdict } }: { readonly of: Judged }) {
  return (
    <Section title={words.transaction}>
      {verdict !== null && <Outcome of={verdict} />}
      <Facts>
        <IdFact name={toolTexts.decode.id} of="transaction" id={transactionId} isWhole />
      </Facts>
      {verdict !== null && (verdict.outcome === 'ACCEPTED' || verdict.outcome === 'FAILED') && (
        <>
          <h3>{words.passed}</h3>
          <Rules of={verdict} />
        </>
      )}
      {verdict?.mana != null && <Mana of={verdict.mana} />}
    </Section>
  )
}

function Outcome({ of: { outcome, refusal, failure } }: { readonly of: Verdict }) {
  const sentence = words.outcomes[outcome]
  if (outcome === 'ACCEPTED' || outcome === 'KNOWN') return <Good>{sentence}</Good>
  return (
    <FailureNote role="note" title={sentence}>
      {refusal !== null && <Refusal message={refusal.message} code={refusal.rule} />}
      {failure !== null && (
        <>
          <p>{capitalized(failure.sentence)}.</p>
          <p class="muted">{words.rule(failure.code, failure.name)}</p>
          <JsonTree of={failure.detail} />
        </>
      )}
    </FailureNote>
  )
}

function Refusal({ message, code }: { readonly message: string; readonly code: string | null }) {
  return (
    <>
      <p>{message}</p>
      <p class="muted">
        <code>{code}</code>
      </p>
    </>
  )
}

function Mana({ of: mana }: { readonly of: NonNullable<Verdict['mana']> }) {
  return (
    <>
      <h3>{words.mana}</h3>
      <Facts>
        <CountFact name={words.manaIn} value={mana.inputs} />
        <Fact name={words.manaByInput}>{mana.byInput.map(grouped).join(', ')}</Fact>
        <CountFact name={words.manaRewards} value={mana.rewards} />
        <CountFact name={words.manaOut} value={mana.outputs} />
      </Facts>
    </>
  )
}
