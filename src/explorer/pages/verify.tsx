import { document, type Judged, type VerifyPageData } from '../../generated/explorer/verify.ts'
import { capitalized, grouped } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Count } from '../parts/amount.tsx'
import { BrokenRule, BrokenRules } from '../parts/broken-rule.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { Id } from '../parts/id.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { linkToValue, PasteHead } from '../parts/paste.tsx'
import { variablesOf } from '../parts/pasted.ts'
import { Rules } from '../parts/rules.tsx'
import { toolTexts } from '../texts-tools.ts'

/** The tool that verifies a block or a signed transaction as if it were submitted now, and lists the rules that hold or break. */

type Inspection = NonNullable<VerifyPageData['inspect']>
type Block = Extract<Inspection, { readonly __typename: 'BlockInspection' }>
type Verdict = NonNullable<Judged['verdict']>

const words = toolTexts.verify

export const page = definePage({
  document,
  variables: variablesOf,
  title: () => words.title,
  // Time alone may change the verdict: a timelock ends, or a commitment becomes too old.
  live: ({ inspect }) => (inspect == null ? 'NEVER' : 'MILESTONES'),
  View: VerifyPage,
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
          <div class="failure" role="note">
            <strong>
              <span aria-hidden="true">✕</span> {words.refused}
            </strong>
            <p>{refusal.message}</p>
            <p class="muted">
              <code>{refusal.code}</code>
            </p>
          </div>
        )}
        <BrokenRules of={problems} />
        <Facts>
          <Fact name={toolTexts.decode.id}>
            <Id of="block" id={block.blockId} isWhole />
          </Fact>
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
        <Fact name={toolTexts.decode.id}>
          <Id of="transaction" id={transactionId} isWhole />
        </Fact>
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
    <div class="failure" role="note">
      <strong>
        <span aria-hidden="true">✕</span> {sentence}
      </strong>
      {refusal !== null && (
        <>
          <p>{refusal.message}</p>
          <p class="muted">
            <code>{refusal.rule}</code>
          </p>
        </>
      )}
      {failure !== null && (
        <>
          <p>{capitalized(failure.sentence)}.</p>
          <p class="muted">{words.rule(failure.code, failure.name)}</p>
          <JsonTree of={failure.detail} />
        </>
      )}
    </div>
  )
}

function Mana({ of: mana }: { readonly of: NonNullable<Verdict['mana']> }) {
  return (
    <>
      <h3>{words.mana}</h3>
      <Facts>
        <Fact name={words.manaIn}>
          <Count value={mana.inputs} />
        </Fact>
        <Fact name={words.manaByInput}>{mana.byInput.map(grouped).join(', ')}</Fact>
        <Fact name={words.manaRewards}>
          <Count value={mana.rewards} />
        </Fact>
        <Fact name={words.manaOut}>
          <Count value={mana.outputs} />
        </Fact>
      </Facts>
    </>
  )
}
