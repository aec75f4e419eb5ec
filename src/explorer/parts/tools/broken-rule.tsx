import { grouped } from '../../format.ts'
import { toolTexts } from '../../texts-tools.ts'
import { FailureNote } from './failure-note.tsx'

/** A form rule that a value breaks. */

interface BrokenRule {
  readonly code: string
  readonly path: string
  readonly offset: number | null
  readonly message: string
  readonly isOfNodeAlone: boolean
  readonly isOfSdkAlone: boolean
}

const words = toolTexts.rule

export function BrokenRule({ of: rule }: { readonly of: BrokenRule }) {
  return (
    <FailureNote role="note" title={rule.message}>
      <p class="muted">
        <code>{rule.code}</code>
        {rule.path !== '' && (
          <>
            {' '}
            {words.at} <code class="breaks">{rule.path}</code>
          </>
        )}
        {rule.offset !== null && <>, {words.byte(grouped(rule.offset))}</>}
      </p>
      {rule.isOfNodeAlone && <p>{words.nodeAlone}</p>}
      {rule.isOfSdkAlone && <p>{words.sdkAlone}</p>}
    </FailureNote>
  )
}

export function BrokenRules({ of: rules }: { readonly of: readonly BrokenRule[] }) {
  return (
    <>
      {rules.map((rule) => (
        <BrokenRule key={`${rule.code} ${rule.path}`} of={rule} />
      ))}
    </>
  )
}
