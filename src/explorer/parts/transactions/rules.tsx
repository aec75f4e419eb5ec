import { detailTexts } from '../../texts-details.ts'

/** The ledger rules in their order, with the rules that held and the rule that broke. */

interface Judgement {
  readonly passedRules: readonly string[]
  readonly brokenRule: string | null
}

const words = detailTexts.rules

export function Rules({ of: { passedRules, brokenRule } }: { readonly of: Judgement }) {
  // The references of a transaction are resolved before any rule is checked.
  const areResolved = passedRules.length > 0 || brokenRule !== null
  return (
    <ol class="rules">
      <Rule meaning={areResolved ? 'held' : 'broken'} text={words.references} />
      {Object.entries(words.byName).map(([name, text]) => (
        <Rule
          key={name}
          meaning={passedRules.includes(name) ? 'held' : name === brokenRule ? 'broken' : 'open'}
          text={text}
        />
      ))}
    </ol>
  )
}

const signs = {
  held: { sign: '✓', style: 'state-done' },
  broken: { sign: '✕', style: 'state-failed' },
  open: { sign: '·', style: 'state-pending' },
} as const

function Rule({ meaning, text }: { readonly meaning: keyof typeof signs; readonly text: string }) {
  const { sign, style } = signs[meaning]
  return (
    <li>
      <span class={`state ${style}`}>
        <span aria-hidden="true">{sign}</span> {words[meaning]}
      </span>{' '}
      {text}
    </li>
  )
}
