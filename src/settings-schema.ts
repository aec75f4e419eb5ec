import type { Setting } from './settings.ts'
import { settingsInFile, valueInFile } from './settings-file.ts'

/** The JSON Schema of a settings file: the content of `docs/settings.schema.json`. */
export function settingsSchema(): { readonly [keyword: string]: unknown } {
  const members = settingsInFile.map((setting) => [setting.name, memberSchema(setting)] as const)
  const secrets = settingsInFile.filter(({ inFile }) => inFile !== undefined)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of Ledger Gateway',
    type: 'object',
    properties: { $schema: { type: 'string' }, ...Object.fromEntries(members) },
    additionalProperties: false,
    // A secret is set either directly or by its file.
    allOf: secrets.map(({ name, inFile }) => ({ not: { required: [name, inFile?.name] } })),
  }
}

function memberSchema({ type, help, byDefault }: Setting) {
  const shown = byDefault === undefined ? {} : { default: valueInFile(byDefault, type) }
  return { description: help, ...type.json, ...shown }
}
