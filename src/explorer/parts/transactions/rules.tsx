import { detailTexts } from '../../texts-details.ts'
import { Mark } from '../values/mark.tsx'

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

const marks = {
  held: { as: 'done' },
  broken: { as: 'failed' },
  open: { as: 'pending', sign: '·' },
} as const

function Rule({ meaning, text }: { readonly meaning: keyof typeof marks; readonly text: string }) {
  return (
    <li>
      <Mark {...marks[meaning]}>{words[meaning]}</Mark> {text}
    </li>
  )
}
