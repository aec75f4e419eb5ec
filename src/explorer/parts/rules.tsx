import { detailTexts } from '../texts-details.ts'

/** The rules of the ledger in their order: those that held, and the one that broke. */

interface Judgement {
  readonly passedRules: readonly string[]
  readonly brokenRule: string | null
}

const words = detailTexts.rules

export function Rules({ of: { passedRules, brokenRule } }: { readonly of: Judgement }) {
  // What a transaction refers to is looked up before any rule is asked.
  const hasAll = passedRules.length > 0 || brokenRule !== null
  return (
    <ol class="rules">
      <Rule meaning={hasAll ? 'held' : 'broken'} text={words.references} />
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
