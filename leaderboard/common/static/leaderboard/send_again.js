// Send a form again after a moment; without JavaScript its button does.
setTimeout(() => document.querySelector("[data-send-again]").submit(), 3000);
