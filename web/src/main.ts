import '@/styles/tokens.css'
import '@/styles/app.css'

import { createApp } from 'vue'
import { createWebHistory } from 'vue-router'

import App from './App.vue'
import { loadLanguage } from './i18n'
import { makeRouter } from './router'
import { boot, registered, takeTicket, workspace } from './state/window'

// The ticket leaves the address bar before the router reads it.
const ticket = takeTicket()

// Nothing is shown in one language first and in another then.
void loadLanguage().then(() =>
  createApp(App)
    .use(makeRouter(createWebHistory(), { registered, bound: () => workspace.value !== null }))
    .mount('#app'),
)

void boot(ticket)
